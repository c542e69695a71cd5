"""Focal attention as a gather of the keys of each window."""

import torch
import torch.nn.functional as F

from checks import Case
from timings import Timing
from window_attention import windows


def composed(qkv, cells, bias, index, mask, window):
    n, h, w, channels = qkv.shape
    heads, keys = bias.shape[0], index.shape[1]
    rows = torch.cat([torch.zeros_like(qkv[:, 0, :1]), qkv.flatten(1, 2), cells], 1)
    rows = rows[:, index.long()].reshape(n, len(index), keys, 3, heads, -1).permute(3, 0, 1, 4, 2, 5)
    q = qkv[..., : channels // 3].reshape(n, h // window, window, w // window, window, heads, -1)
    q = q.permute(0, 1, 3, 5, 2, 4, 6).reshape(n, len(index), heads, window * window, -1)
    scores = q @ rows[1].transpose(3, 4) * q.shape[-1] ** -0.5 + bias + mask[:, None]
    out = (scores.softmax(-1) @ rows[2]).reshape(n, h // window, w // window, heads, window, window, -1)
    return out.permute(0, 1, 4, 2, 5, 3, 6).reshape(n, h, w, -1)


def case(n, down, across, heads, depth, window, keys, cells, masks=1, **more):
    def inputs(generator):
        def normal(*shape):
            return torch.randn(shape, generator=generator, dtype=torch.float64)

        h, w, windows = down * window, across * window, down * across
        index = torch.randint(0, h * w + cells + 1, (windows, keys), generator=generator)
        mask = -100.0 * (torch.rand(windows, masks, keys, generator=generator, dtype=torch.float64) < 0.2)
        return [
            normal(n, h, w, 3 * heads * depth),
            normal(n, cells, 3 * heads * depth),
            normal(heads, window * window, keys),
            index,
            mask,
        ]

    return Case(
        f"focal {n}x{down}x{across} {heads}x{depth} {window}x{window}:{keys}{' masks' * (masks > 1)}",
        lambda q, c, b, i, m: torch.ops.saccade.focal_attention(q, c, b, i, m, window),
        lambda q, c, b, i, m: composed(q, c, b, i, m, window),
        inputs,
        fixed=(3, 4),
        **more,
    )


CASES = [
    case(2, 2, 2, 2, 32, 7, 218, 9),
    case(1, 2, 1, 1, 32, 7, 170, 3, masks=49),
    case(1, 1, 2, 1, 48, 5, 37, 4),
    case(1, 1, 2, 2, 49, 7, 178, 2),
    case(1, 2, 2, 1, 128, 4, 20, 0, types=(torch.float32, torch.bfloat16)),
    case(2, 1, 2, 2, 5, 3, 11, 3, types=(torch.float32, torch.float64, torch.float16)),
]


def region(down, across, window, expand, cells):
    """Keys of each window: itself, a wrapped ring, and pooled cells, one per window."""
    y, x = torch.arange(down)[:, None, None, None], torch.arange(across)[None, :, None, None]
    near = torch.arange(-expand, window + expand)
    token = (y * window + near[:, None]) % (down * window) * across * window + (x * window + near) % (across * window)
    around = torch.arange(-(cells // 2), cells // 2 + 1)
    v, u = y + around[:, None], x + around
    there = (v >= 0) & (v < down) & (u >= 0) & (u < across)
    cell = (v * across + u + down * across * window * window + 1) * there
    index = torch.cat([token.flatten(2) + 1, cell.flatten(2)], 2).flatten(0, 1)
    mask = -100.0 * (index == 0)
    return index.int(), mask[:, None]


def original(qkv, cells, bias, mask, window, expand, focal):
    """As the official code: four rolled copies of the map, and unfolded cells."""
    n, h, w, channels = qkv.shape
    heads, area, d = bias.shape[0], window * window, channels // 3
    corner = torch.arange(area, device=qkv.device).reshape(window, window)
    kept = torch.cat([
        area * i + torch.cat([corner[rows].flatten(), corner[others][:, columns].flatten()])
        for i, (rows, others, columns) in enumerate([
            (slice(window - expand, None), slice(0, window - expand), slice(window - expand, None)),
            (slice(window - expand, None), slice(0, window - expand), slice(0, expand)),
            (slice(0, expand), slice(expand, None), slice(window - expand, None)),
            (slice(0, expand), slice(expand, None), slice(0, expand)),
        ])
    ])

    def split(x):
        return x.reshape(len(x), x.shape[1], heads, -1).transpose(1, 2)

    def keys(x, pooled):
        rolled = [windows(x.roll((a * expand, b * expand), (1, 2)), window, window) for a in (-1, 1) for b in (-1, 1)]
        ring = torch.cat(rolled, 1).index_select(1, kept)
        square = F.unfold(pooled.reshape(n, h // window, w // window, d).permute(0, 3, 1, 2), focal, 1, focal // 2)
        square = square.reshape(n, d, focal * focal, -1).permute(0, 3, 2, 1).reshape(-1, focal * focal, d)
        return split(torch.cat([windows(x, window, window), ring, square], 1))

    q, k, v = qkv.split(d, 3)
    _, k_cells, v_cells = cells.split(d, 2)
    k, v = keys(k, k_cells), keys(v, v_cells)
    scores = split(windows(q, window, window)) * (d // heads) ** -0.5 @ k.transpose(2, 3)
    more = k.shape[2] - bias.shape[2]
    scores = scores + (F.pad(bias, (more, 0)) + F.pad(mask, (more, 0))[:, None]).to(q.dtype).repeat(n, 1, 1, 1)
    out = (scores.softmax(-1) @ v).transpose(1, 2).reshape(n, h // window, w // window, window, window, d)
    return out.transpose(2, 3).reshape(n, h, w, d)


def timing(n, side, heads, focal, faster, backward=False):
    index, mask = (x.cuda() for x in region(side, side, 7, 3, focal)) if torch.cuda.is_available() else (None, None)

    def inputs():
        def normal(*shape, dtype=torch.bfloat16):
            return torch.randn(shape, device="cuda", dtype=dtype).requires_grad_(backward)

        return [
            normal(n, 7 * side, 7 * side, 96 * heads),
            normal(n, side * side, 96 * heads),
            normal(heads, 49, index.shape[1], dtype=torch.float32),
        ]

    return Timing(
        f"focal {n}x{7 * side}x{7 * side}x{32 * heads} {focal}x{focal} bf16 "
        f"{'forward and backward' if backward else 'forward'}",
        lambda q, c, b: torch.ops.saccade.focal_attention(q, c, b, index, mask, 7),
        lambda q, c, b: original(q, c, b, mask, 7, 3, focal),
        inputs,
        faster,
    )


TIMINGS = [
    timing(64, 8, 3, 7, 10),
    timing(64, 4, 6, 5, 10),
    timing(64, 2, 12, 3, 10),
    timing(32, 8, 3, 7, 10, backward=True),
    timing(32, 4, 6, 5, 10, backward=True),
]
