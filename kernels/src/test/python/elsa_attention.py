"""ELSA's attention, composed of unfolded neighborhoods."""

import torch
import torch.nn.functional as F

from checks import Case
from timings import Timing


def composed(values, logits, mul, add, kernel, dilation):
    n, h, w, channels = values.shape
    taps = kernel * kernel
    groups = logits.shape[3] // taps
    weights = logits.reshape(n, h, w, groups, 1, taps).softmax(-1)
    if mul is not None:
        weights = weights * mul.reshape(groups, -1, taps)
    if add is not None:
        weights = weights + add.reshape(groups, -1, taps)
    reach = kernel // 2 * dilation
    near = F.unfold(values.permute(0, 3, 1, 2), kernel, dilation, reach)
    near = near.reshape(n, groups, channels // groups, taps, h, w).permute(0, 4, 5, 1, 2, 3)
    return (weights * near).sum(-1).reshape(values.shape)


def case(n, h, w, groups, depth, kernel, dilation=1, mul=False, add=True, **more):
    def inputs(generator):
        def normal(*shape):
            return torch.randn(shape, generator=generator, dtype=torch.float64)

        channels, taps = groups * depth, kernel * kernel
        return [
            normal(n, h, w, channels),
            normal(n, h, w, groups * taps) * 2,
            normal(channels, taps) if mul else None,
            normal(channels, taps) if add else None,
        ]

    return Case(
        f"elsa {n}x{h}x{w} {groups}x{depth} k{kernel} d{dilation}{' mul' * mul}{' add' * add}",
        lambda v, l, m, a: torch.ops.saccade.elsa_attention(v, l, m, a, kernel, dilation),
        lambda v, l, m, a: composed(v, l, m, a, kernel, dilation),
        inputs,
        **more,
    )


CASES = [
    case(2, 11, 19, 2, 32, 7),
    case(1, 9, 18, 1, 40, 7, mul=True),
    case(1, 17, 5, 3, 8, 5, add=False),
    case(2, 5, 7, 2, 5, 3, mul=True),
    case(1, 8, 17, 1, 40, 5, types=(torch.float16, torch.bfloat16)),
    case(1, 9, 6, 3, 5, 3, types=(torch.float16, torch.bfloat16)),
    case(1, 8, 33, 1, 72, 3, add=False, mul=True),
    case(1, 7, 9, 2, 6, 3, dilation=2, mul=True, types=(torch.float32, torch.float64, torch.bfloat16)),
    case(1, 6, 5, 1, 33, 9, types=(torch.float32, torch.float64)),
]


def timing(n, h, w, groups, faster, of_floor, backward=False, kernel=7):
    channels, taps = 32 * groups, kernel * kernel

    def inputs():
        def normal(*shape, dtype=torch.bfloat16):
            return torch.randn(shape, device="cuda", dtype=dtype).requires_grad_(backward)

        return [normal(n, h, w, channels), normal(n, h, w, groups * taps), None, normal(channels, taps) / taps]

    pixels = n * h * w
    both = 2 * pixels * (2 * channels + groups * taps)  # values and logits read, values written
    if backward:
        both += 2 * pixels * (3 * channels + 2 * groups * taps)
    return Timing(
        f"elsa {n}x{h}x{w}x{channels} k{kernel} bf16 {'forward and backward' if backward else 'forward'}",
        lambda v, l, m, a: torch.ops.saccade.elsa_attention(v, l, m, a, kernel, 1),
        lambda v, l, m, a: composed(v, l, m, a.to(v.dtype), kernel, 1),
        inputs,
        faster,
        both,
        of_floor,
    )


TIMINGS = [
    timing(128, 56, 56, 3, 25, 0.45),
    timing(128, 28, 28, 6, 25, 0.45),
    timing(128, 14, 14, 12, 25, 0.45),
    timing(2, 200, 336, 3, 25, 0.45),
    timing(64, 56, 56, 3, 25, 0, backward=True),
    timing(64, 14, 14, 12, 25, 0, backward=True),
]
