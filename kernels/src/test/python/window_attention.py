"""Window attention on a padded and rolled map."""

import torch
import torch.nn.functional as F

from checks import Case
from timings import Timing


def windows(x, rows, columns):
    """Splits a map into [windows, tokens, channels]."""
    n, h, w, c = x.shape
    x = x.reshape(n, h // rows, rows, w // columns, columns, c)
    return x.transpose(2, 3).reshape(-1, rows * columns, c)


def weigh(q, k, v, bias, scale):
    return (scale * q @ k.transpose(2, 3) + bias).softmax(-1) @ v


def by_torch(q, k, v, bias, scale):
    return F.scaled_dot_product_attention(q, k, v, bias.to(q.dtype).expand(len(q), -1, -1, -1), scale=scale)


def composed(packed, padding, table, heads, window, shift, pads_first, thirds, scale, attend=weigh):
    (rows, columns), (down, right) = window, shift
    n, h, w, channels = packed.shape
    below, beside, area = -h % rows, -w % columns, rows * columns

    def pad(x):
        y = F.pad(x, (0, 0, 0, beside, 0, below))
        if padding is None:
            return y
        there = F.pad(torch.ones_like(x[..., :1]), (0, 0, 0, beside, 0, below))
        return y + (1 - there) * padding

    def roll(x):
        return x.roll((-down, -right), (1, 2)) if down + right > 0 else x

    def unroll(x):
        return x.roll((down, right), (1, 2)) if down + right > 0 else x

    x = windows(roll(pad(packed)) if pads_first else pad(roll(packed)), rows, columns)
    x = x.reshape(len(x), area, 3, heads, -1).permute(2, 0, 3, 1, 4)
    q, k, v = (x[i] for i in thirds)
    bias = packed.new_zeros(1, heads, area, area)
    if table is not None:
        side = round(len(table) ** 0.5)
        tokens = torch.arange(area, device=packed.device)
        y, z = tokens // columns, tokens % columns
        place = (y[:, None] - y + side // 2) * side + z[:, None] - z + side // 2
        bias = table[place].permute(2, 0, 1)[None]
    if down + right > 0:
        y = torch.arange(h + below, device=packed.device) >= h + below - down
        z = torch.arange(w + beside, device=packed.device) >= w + beside - right
        region = windows((2 * y[:, None].long() + z)[None, :, :, None], rows, columns).transpose(1, 2)
        apart = region != region.transpose(1, 2)
        bias = (bias - 100.0 * apart[:, None]).repeat(n, 1, 1, 1)
    out = attend(q, k, v, bias, scale).transpose(1, 2)
    out = out.reshape(n, (h + below) // rows, (w + beside) // columns, rows, columns, -1)
    out = out.transpose(2, 3).reshape(n, h + below, w + beside, -1)
    return unroll(out)[:, :h, :w] if pads_first else unroll(out[:, :h, :w])


def case(n, h, w, heads, depth, window, shift=(0, 0), pads_first=True, thirds=(0, 1, 2), padding=True, table=True, **more):
    side = 2 * max(window) - 1
    form = (heads, list(window), list(shift), pads_first, list(thirds), depth**-0.5)

    def inputs(generator):
        def normal(*shape):
            return torch.randn(shape, generator=generator, dtype=torch.float64)

        return [
            normal(n, h, w, 3 * heads * depth),
            normal(3 * heads * depth) if padding else None,
            normal(side * side, heads) if table else None,
        ]

    return Case(
        f"window {n}x{h}x{w} {heads}x{depth} {window[0]}x{window[1]}+{shift[0]},{shift[1]}{' pad' * pads_first}"
        f"{'' if table else ' bare'}",
        lambda x, p, t: torch.ops.saccade.window_attention(x, p, t, *form),
        lambda x, p, t: composed(x, p, t, *form),
        inputs,
        **more,
    )


CASES = [
    case(2, 14, 14, 3, 32, (7, 7)),
    case(1, 9, 19, 2, 32, (7, 7), (3, 3)),
    case(1, 9, 8, 1, 32, (8, 8), (4, 4), pads_first=False),
    case(1, 9, 13, 1, 24, (5, 7), (2, 3), thirds=(2, 0, 1), padding=False, table=False),
    case(1, 12, 13, 1, 64, (12, 12), (6, 6), types=(torch.float16,)),
    case(1, 8, 11, 1, 128, (4, 4), (2, 1), types=(torch.float32, torch.bfloat16)),
    case(1, 6, 5, 2, 5, (4, 3), (1, 1), types=(torch.float32, torch.float64, torch.bfloat16)),
    case(1, 4, 5, 1, 160, (3, 3), types=(torch.float32, torch.float64, torch.float16)),
]


def timing(n, h, w, heads, shift, faster, of_floor, backward=False):
    channels = 32 * heads
    form = (heads, [7, 7], [shift, shift], True, [0, 1, 2], 32**-0.5)

    def inputs():
        def normal(*shape, dtype=torch.bfloat16):
            return torch.randn(shape, device="cuda", dtype=dtype).requires_grad_(backward)

        padding = normal(3 * channels) if h % 7 + w % 7 > 0 else None
        return [normal(n, h, w, 3 * channels), padding, normal(169, heads, dtype=torch.float32)]

    numbers = n * h * w * channels
    return Timing(
        f"window {n}x{h}x{w}x{channels} 7+{shift} bf16 {'forward and backward' if backward else 'forward'}",
        lambda x, p, t: torch.ops.saccade.window_attention(x, p, t, *form),
        lambda x, p, t: composed(x, p, t, *form, attend=by_torch),
        inputs,
        faster,
        2 * numbers * (11 if backward else 4),
        of_floor,
    )


TIMINGS = [
    timing(128, 56, 56, 3, 0, 2.5, 0.45),
    timing(128, 56, 56, 3, 3, 2.5, 0.45),
    timing(128, 14, 14, 12, 3, 2.5, 0.45),
    timing(2, 200, 334, 3, 3, 2.5, 0),
    timing(64, 56, 56, 3, 3, 2.5, 0, backward=True),
    timing(64, 14, 14, 12, 3, 2.5, 0, backward=True),
]
