"""Norms of many tensors."""

import torch

from checks import Case
from timings import Timing

SIZES = [1, 5, 16384, 16387, 40000] + [3] * 150


def composed(x):
    return torch.stack([x.norm(), *(t.norm() for t in x.split(SIZES))])


def inputs(generator):
    return [torch.randn(sum(SIZES), generator=generator, dtype=torch.float64)]


def on_gpu():
    return [[torch.rand(size, device="cuda") for size in [384 * 1536] * 80 + [768] * 120]]


CASES = [
    Case(
        f"norms {len(SIZES)} tensors",
        lambda x: torch.ops.saccade.norms([t.clone() for t in x.split(SIZES)]),
        composed,
        inputs,
        fixed=(0,),
        types=(torch.float32,),
    )
]
TIMINGS = [
    Timing(
        "norms, beside _foreach_norm",
        lambda x: torch.ops.saccade.norms(x),
        lambda x: torch.stack(torch._foreach_norm(x)).norm(),
        on_gpu,
        0.8,
        4 * sum(t for t in [384 * 1536] * 80 + [768] * 120),
    )
]
