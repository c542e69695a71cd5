"""Layer normalization, alone and with a fused residual sum."""

import torch
import torch.nn.functional as F

from checks import Case
from timings import Timing

EPS = 1e-5


def case(rows, channels, residual, summed_wide=False, **more):
    def inputs(generator):
        def normal(*shape):
            return torch.randn(shape, generator=generator, dtype=torch.float64)

        x = [normal(rows, channels) + 1 for _ in range(1 + residual)]
        return [normal(channels) + 1, normal(channels), *x]

    def fused(weight, bias, x, other=None):
        if other is None:
            return torch.ops.saccade.layer_norm(x, weight, bias, EPS)
        out, total = torch.ops.saccade.add_layer_norm(x, other, weight, bias, EPS)
        return torch.stack([out, total.to(out.dtype)])

    def composed(weight, bias, x, other=None):
        if other is None:
            return F.layer_norm(x, x.shape[1:], weight, bias, EPS)
        return torch.stack([F.layer_norm(x + other, x.shape[1:], weight, bias, EPS), x + other])

    name = f"layer_norm {rows}x{channels}{' of a sum' * residual}{' of floats' * summed_wide}"
    return Case(name, fused, composed, inputs, always=(0, 1, 2) if summed_wide else (0, 1), **more)


HALF = (torch.float16, torch.bfloat16)
DOUBLE = (torch.float32, torch.float64, torch.bfloat16)
CASES = [
    case(133, 96, True),
    case(70, 192, False),
    case(37, 384, True),
    case(9, 768, False),
    case(5, 1536, True),
    case(11, 45, True, types=DOUBLE),
    case(3, 3076, False, types=DOUBLE),
    case(2, 8192, False, types=(torch.bfloat16,)),
    case(133, 96, True, summed_wide=True, types=HALF),
    case(9, 45, True, summed_wide=True, types=HALF),
    case(3, 3072, True, summed_wide=True, types=HALF),
]


def timing(rows, channels, residual, faster, of_floor, backward=False):
    def inputs():
        def normal(*shape, dtype=torch.bfloat16):
            return torch.randn(shape, device="cuda", dtype=dtype).requires_grad_(backward)

        x = [normal(rows, channels) for _ in range(1 + residual)]
        return [normal(channels, dtype=torch.float32), normal(channels, dtype=torch.float32), *x]

    def fused(weight, bias, x, other=None):
        if other is None:
            return torch.ops.saccade.layer_norm(x, weight, bias, EPS)
        out, total = torch.ops.saccade.add_layer_norm(x, other, weight, bias, EPS)
        return out if backward else (out, total)

    def by_torch(weight, bias, x, other=None):
        total = x if other is None else x + other
        return F.layer_norm(total, total.shape[1:], weight.to(x.dtype), bias.to(x.dtype), EPS)

    passes = 2 + 2 * residual + (3 if backward else 0)
    kind = f"{' of a sum' * residual} {'forward and backward' if backward else 'forward'}"
    return Timing(
        f"layer_norm {rows}x{channels} bf16{kind}", fused, by_torch, inputs, faster, 2 * passes * rows * channels, of_floor
    )


TIMINGS = [
    timing(128 * 56 * 56, 96, False, 1, 0.6),
    timing(128 * 56 * 56, 96, True, 1.2, 0.6),
    timing(128 * 14 * 14, 384, True, 1.1, 0.5),
    timing(128 * 56 * 56, 96, False, 1, 0.5, backward=True),
    timing(128 * 14 * 14, 384, True, 1.1, 0.4, backward=True),
]
