"""Deformable convolution, compared with torchvision's."""

import torch
import torchvision

from checks import Case
from timings import Timing


def composed(stride, padding, dilation):
    return lambda x, offset, mask, weight, bias: torchvision.ops.deform_conv2d(
        x, offset, weight, bias, stride, padding, dilation, mask
    )


def fused(stride, padding, dilation):
    return lambda x, offset, mask, weight, bias: torch.ops.saccade.deform_conv2d(
        x, offset, mask, weight, bias, stride, padding, dilation
    )


def case(n, size, channels, outputs, kernel, groups=1, moved=1, mask=True, bias=True, stride=(1, 1),
         padding=(0, 0), dilation=(1, 1), reach=1.5, **more):  # fmt: skip
    """Random offsets of about `reach` cells, shared by groups of channels."""
    positions = [(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, k, t, p, d in zip(size, kernel, stride, padding, dilation)]
    taps = moved * kernel[0] * kernel[1]

    def inputs(generator):
        def normal(*shape):
            return torch.randn(shape, generator=generator, dtype=torch.float64)

        return [
            normal(n, channels, *size),
            # Keeps positions away from cell borders in every type.
            (16 * reach * normal(n, 2 * taps, *positions)).floor() / 16 + 1 / 32,
            normal(n, taps, *positions).sigmoid() if mask else None,
            normal(outputs, channels // groups, *kernel),
            normal(outputs) if bias else None,
        ]

    name = f"deform_conv2d {n}x{channels}x{size[0]}x{size[1]} -> {outputs} k{kernel[0]}x{kernel[1]}"
    marks = f"{f' {groups} groups' * (groups > 1)}{f' {moved} moved' * (moved > 1)}{' plain' * (not mask)}"
    settings = [list(s) for s in (stride, padding, dilation)]
    more = {"always": (1, 2)} | more
    return Case(name + marks, fused(*settings), composed(*settings), inputs, **more)


WITH_DOUBLE = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
BRIEF = (torch.float32, torch.bfloat16)

CASES = [
    case(2, (11, 13), 32, 24, (3, 3), padding=(1, 1), types=WITH_DOUBLE),
    case(2, (9, 7), 256, 64, (3, 3), padding=(1, 1), bias=False, always=(1, 2, 3)),
    case(1, (13, 10), 24, 8, (3, 3), groups=2, moved=3, padding=(1, 1), stride=(2, 2)),
    case(3, (7, 12), 10, 15, (2, 5), groups=5, moved=2, padding=(0, 3), stride=(2, 1), dilation=(1, 2), types=WITH_DOUBLE),
    case(1, (9, 9), 12, 12, (3, 3), groups=12, moved=12, mask=False, padding=(1, 1)),
    case(2, (8, 9), 16, 16, (3, 3), mask=False, bias=False, padding=(2, 2), dilation=(2, 2), reach=20, fixed=(1,)),
    case(2, (1, 1), 8, 3, (1, 1), types=BRIEF),
    case(1, (2, 2), 320, 8, (3, 3), padding=(3, 3), types=BRIEF),  # many samples in few cells
    case(2, (125, 125), 2, 8, (3, 3), padding=(1, 1), types=(torch.float64, torch.bfloat16)),  # in parts
    case(0, (5, 6), 8, 4, (3, 3), padding=(1, 1), types=(torch.float32,)),
]


def timing(n, dtype, faster, level, backward=False, channels=256):
    """A pyramid level of an 800x1333 image, as in DyHead."""
    h, w = -(-800 // (8 << level)), -(-1333 // (8 << level))

    def inputs():
        def normal(*shape):
            return torch.randn(shape, device="cuda", dtype=dtype)

        tensors = [
            normal(n, channels, h, w), normal(n, 18, h, w), normal(n, 9, h, w).sigmoid(),
            normal(channels, channels, 3, 3) / 48,
        ]  # fmt: skip
        return [x.requires_grad_(backward) for x in tensors] + [None]

    kind = str(dtype).removeprefix("torch.")
    return Timing(
        f"deform_conv2d {n}x{channels}x{h}x{w} {kind} {'forward and backward' if backward else 'forward'}",
        fused([1, 1], [1, 1], [1, 1]),
        composed((1, 1), (1, 1), (1, 1)),
        inputs,
        faster,
    )


TIMINGS = [
    *(timing(2, torch.float32, 1, level) for level in range(5)),
    *(timing(2, torch.float16, 1.5, level) for level in range(5)),
    *(timing(2, torch.float32, 1.5, level, backward=True) for level in range(5)),
    *(timing(2, torch.float16, 2, level, backward=True) for level in range(5)),
]
