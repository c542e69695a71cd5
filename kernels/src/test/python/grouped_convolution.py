"""Convolution with narrow groups."""

import torch
import torch.nn.functional as F

from checks import Case
from timings import Timing


def composed(x, weight, bias):
    kernel, groups = weight.shape[2], weight.shape[0] // weight.shape[1]
    return F.conv2d(x.permute(0, 3, 1, 2), weight, bias, padding=kernel // 2, groups=groups).permute(0, 2, 3, 1)


def case(n, h, w, groups, width, kernel, bias=True, **more):
    def inputs(generator):
        def normal(*shape):
            return torch.randn(shape, generator=generator, dtype=torch.float64)

        channels = groups * width
        return [normal(n, h, w, channels), normal(channels, width, kernel, kernel), normal(channels) if bias else None]

    return Case(
        f"grouped convolution {n}x{h}x{w} {groups}x{width} k{kernel}{' bias' * bias}",
        torch.ops.saccade.grouped_convolution,
        composed,
        inputs,
        **more,
    )


CASES = [
    case(1, 11, 19, 16, 4, 7),
    case(2, 9, 15, 9, 4, 5, bias=False),
    case(1, 10, 18, 5, 8, 7),
    case(2, 8, 16, 7, 2, 3),
    case(1, 9, 17, 35, 1, 7, types=(torch.float32, torch.bfloat16)),
    case(1, 6, 5, 3, 4, 9, types=(torch.float32, torch.float64)),
]


def timing(n, h, w, channels, width, faster, backward=False, kernel=7):
    def inputs():
        def normal(*shape):
            return torch.randn(shape, device="cuda", dtype=torch.bfloat16).requires_grad_(backward)

        return [normal(n, h, w, channels), normal(channels, width, kernel, kernel), normal(channels)]

    return Timing(
        f"grouped convolution {n}x{h}x{w}x{channels} width {width} bf16 {'forward and backward' * backward}",
        torch.ops.saccade.grouped_convolution,
        composed,
        inputs,
        faster,
        2 * n * h * w * channels * (6 if backward else 2),
    )


TIMINGS = [
    timing(128, 56, 56, 64, 4, 2),
    timing(128, 28, 28, 128, 4, 2),
    timing(128, 14, 14, 256, 8, 1),
    timing(64, 56, 56, 64, 4, 2, backward=True),
]
