"""Measures operators on a GPU alternately with equivalent ones."""

import itertools
import statistics
from dataclasses import dataclass
from typing import Callable

import torch


@dataclass
class Timing:
    """An operator and a reference with the same inputs."""

    name: str
    ours: Callable
    theirs: Callable
    inputs: Callable[[], list]  # on the GPU; backward runs too if inputs require gradients
    faster: float  # minimum speedup
    least_bytes: int = 0  # minimum memory traffic; 0 if the operator is not memory-bound
    of_floor: float = 0  # minimum fraction of the memory bandwidth


def once(f, inputs):
    """Runs forward, and backward if inputs require gradients."""
    wanted = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    if not wanted:
        with torch.no_grad():
            return f(*inputs)
    out = f(*inputs)
    return torch.autograd.grad(out, wanted, torch.ones_like(out))


def milliseconds(f):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    f()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


def by_turns(*functions, runs=20, warm=3):
    """Median milliseconds of each; they run alternately on fresh inputs."""
    for f in functions:
        for _ in range(warm):
            f()
    times = [[milliseconds(f) for f in functions] for _ in range(runs)]
    return [statistics.median(column) for column in zip(*times)]


def bandwidth():
    """Copy bandwidth in bytes per second, reads plus writes."""
    x = torch.empty(1 << 31, dtype=torch.uint8, device="cuda")
    y = torch.empty_like(x)
    return 2 * x.numel() / (by_turns(lambda: y.copy_(x))[0] / 1e3)


def report(timings):
    """Prints a line per operator; returns the number of missed requirements."""
    missed = 0
    speed = bandwidth()
    print(f"copy {speed / 1e12:.2f} TB/s on {torch.cuda.get_device_name()}")
    print(f"{'operator':58} {'ours ms':>9} {'theirs ms':>10} {'faster':>8} {'asked':>6} {'of floor':>9} {'asked':>6}")
    for t in timings:
        sets = [t.inputs() for _ in range(3)]  # larger than the cache
        turns = [itertools.cycle(sets), itertools.cycle(sets)]
        ours, theirs = by_turns(
            lambda: once(t.ours, next(turns[0])), lambda: once(t.theirs, next(turns[1]))
        )
        faster = theirs / ours
        of_floor = t.least_bytes / speed * 1e3 / ours
        bad = faster < t.faster or of_floor < t.of_floor
        missed += bad
        floor = f"{of_floor:8.0%} {t.of_floor:7.0%}" if t.least_bytes else f"{'-':>8} {'-':>7}"
        print(
            f"{t.name:58} {ours:9.3f} {theirs:10.3f} {faster:7.2f}x {t.faster:5.2f}x {floor}{'   MISSED' * bad}",
            flush=True,
        )
        del sets, turns
        torch.cuda.empty_cache()
    return missed
