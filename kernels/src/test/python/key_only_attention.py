"""Key-only attention as torch operators on all tokens."""

import torch
import torch.nn.functional as F

from checks import Case
from timings import Timing


def composed(x, saliency, k, v, u1, u2, b_k, b_v, b_1, b_2):
    n, h, w, c = x.shape
    heads, depth = saliency.shape
    tokens = x.reshape(n, h * w, c)
    keys, values = F.linear(tokens, k, b_k), F.linear(tokens, v, b_v)
    by_head = keys.view(n, h * w, heads, depth)
    attention = ((by_head * saliency).sum(3) * depth**-0.5).softmax(1)
    gate = (attention.unsqueeze(3) * by_head).sum(1).reshape(n, 1, c)
    return F.linear(F.linear(values * gate, u1, b_1) + keys, u2, b_2).view(x.shape)


def case(n, h, w, heads, depth, biased, **more):
    def inputs(generator):
        def normal(*shape):
            return torch.randn(shape, generator=generator, dtype=torch.float64)

        c = heads * depth
        weights = [normal(c, c) * c**-0.5 for _ in range(4)]
        biases = [normal(c) if biased else None for _ in range(4)]
        return [normal(n, h, w, c), normal(heads, depth), *weights, *biases]

    return Case(
        f"key_only {n}x{h}x{w} {heads}x{depth}{' biased' * biased}",
        torch.ops.saccade.key_only_attention,
        composed,
        inputs,
        always=tuple(range(1, 10)),
        **more,
    )


CASES = [
    case(2, 17, 19, 1, 64, True),
    case(1, 14, 10, 2, 20, False),
    case(2, 5, 7, 8, 8, True),
    case(1, 3, 5, 5, 7, True, types=(torch.float32, torch.float64, torch.bfloat16)),
    case(1, 4, 3, 11, 3, False, types=(torch.float32, torch.float64)),
]


def timing(n, h, w, heads, depth, faster, backward=False):
    def inputs():
        def normal(*shape, dtype=torch.float32):
            return torch.randn(shape, device="cuda", dtype=dtype).requires_grad_(backward)

        c = heads * depth
        weights = [torch.nn.init.normal_(normal(c, c).detach(), std=c**-0.5).requires_grad_(backward) for _ in range(4)]
        return [normal(n, h, w, c, dtype=torch.bfloat16), normal(heads, depth), *weights, *[None] * 4]

    return Timing(
        f"key_only {n}x{h}x{w} {heads}x{depth} bf16 {'forward and backward' if backward else 'forward'}",
        torch.ops.saccade.key_only_attention,
        lambda x, *others: composed(x, *[None if t is None else t.to(x.dtype) for t in others]),
        inputs,
        faster,
        2 * n * h * w * heads * depth * (8 if backward else 3),
    )


TIMINGS = [
    timing(128, 56, 56, 1, 64, 1.5),
    timing(2, 200, 336, 1, 64, 1.5),
    timing(128, 14, 14, 5, 64, 1),
    timing(64, 56, 56, 1, 64, 1.5, backward=True),
]
