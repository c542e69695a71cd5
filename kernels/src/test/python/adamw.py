"""AdamW step for many tensors, with gradient clipping and EMA weights."""

import torch

from checks import Case
from timings import Timing

SIZES = [1, 5, 1024, 1027, 4096, 40000] + [3] * 150
RATE, DECAY, BETA1, BETA2, EPSILON, SCALE, FOLLOW = 1e-2, 0.05, 0.9, 0.999, 1e-8, 0.7, 0.99


def inputs(generator):
    total = sum(SIZES)
    weight, gradient, mean, average = torch.randn(4, total, generator=generator, dtype=torch.float64)
    square = torch.rand(total, generator=generator, dtype=torch.float64)
    return [weight, gradient, mean, square, average]


def take_step(weights, gradients, means, squares, averages, steps):
    numbers = [torch.full((len(weights),), x, dtype=torch.float64) for x in (RATE, DECAY)]
    torch.ops.saccade.adamw_(
        weights, gradients, means, squares, steps, averages, *numbers, BETA1, BETA2, EPSILON, SCALE, FOLLOW
    )


def fused(*flat):
    lists = [[t.clone() for t in x.split(SIZES)] for x in flat]
    weights, gradients, means, squares, averages = lists
    steps = [torch.full((), 3.0, device=flat[0].device) for _ in SIZES]
    take_step(weights, gradients, means, squares, averages, steps)
    return torch.cat([*weights, *means, *squares, *averages, torch.stack(steps)])


def composed(weight, gradient, mean, square, average):
    g = gradient * SCALE
    mean = BETA1 * mean + (1 - BETA1) * g
    square = BETA2 * square + (1 - BETA2) * g * g
    step = RATE / (1 - BETA1**4) * mean / ((square / (1 - BETA2**4)).sqrt() + EPSILON)
    weight = weight * (1 - RATE * DECAY) - step
    average = FOLLOW * average + (1 - FOLLOW) * weight
    return torch.cat([weight, mean, square, average, weight.new_full((len(SIZES),), 4)])


CASES = [Case(f"adamw {len(SIZES)} tensors", fused, composed, inputs, fixed=tuple(range(5)), types=(torch.float32,))]


def timing(name, theirs, faster):
    """With the number of parameters of a Swin-T detector."""
    sizes = [384 * 1536] * 80 + [768 * 3072] * 2 + [768] * 120

    def inputs():
        lists = [[torch.rand(size, device="cuda") for size in sizes] for _ in range(5)]
        return [lists, [torch.ones((), device="cuda") for _ in sizes]]

    return Timing(
        f"adamw {name}",
        lambda lists, steps: take_step(*lists, steps),
        lambda lists, steps: theirs(*lists, steps),
        inputs,
        faster,
        36 * sum(sizes),
    )


def by_torch(weights, gradients, means, squares, averages, steps):
    torch._foreach_mul_(gradients, 1.0)
    torch._foreach_add_(steps, 1)
    torch._fused_adamw_(
        weights, gradients, means, squares, [], steps, lr=RATE, beta1=BETA1, beta2=BETA2, weight_decay=DECAY,
        eps=EPSILON, amsgrad=False, maximize=False,
    )
    torch._foreach_lerp_(averages, weights, 1 - FOLLOW)


TIMINGS = [timing("with clipping and averages, beside three passes", by_torch, 1.2)]
