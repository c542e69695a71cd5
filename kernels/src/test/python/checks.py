"""Holds operators against the same composed in float64, forward and backward."""

import pathlib
from dataclasses import dataclass
from typing import Callable

import torch

KERNELS = pathlib.Path(__file__).parents[3]
NATIVE = KERNELS / "src/main/native"


def operators():
    """The names of the operators that have a form for GPUs; each has a module here."""
    return sorted({launcher.parent.name for launcher in NATIVE.glob("*/*_cuda.cpp")})


# Errors relative to the norm of what is expected.
TOLERANCES = {torch.float64: 1e-12, torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


@dataclass
class Case:
    """An operator with inputs of some sizes."""

    name: str
    operator: Callable  # of tensors, as they are stored
    composed: Callable  # the same of tensors of float64
    inputs: Callable[[torch.Generator], list]  # tensors of float64, or None
    fixed: tuple = ()  # numbers of the inputs that have no gradient
    always: tuple = ()  # numbers of the inputs that stay float32
    types: tuple = (torch.float32, torch.float16, torch.bfloat16)


def rounded(case, inputs, dtype, device):
    """The inputs as they are stored."""

    def one(i, x):
        if x is None or not x.is_floating_point():
            return x if x is None else x.to(device)
        kept = torch.float32 if i in case.always and dtype != torch.float64 else dtype
        y = x.to(device, kept).detach()
        return y if i in case.fixed else y.requires_grad_()

    return [one(i, x) for i, x in enumerate(inputs)]


def run(operator, inputs, d_out):
    """Output and gradients, in float64."""
    out = operator(*inputs)
    wanted = [x for x in inputs if x is not None and x.requires_grad]
    gradients = torch.autograd.grad(out, wanted, d_out.to(out.device, out.dtype)) if wanted else ()
    return [t.detach().double().cpu() for t in (out, *gradients)]


def error(found, expected):
    norm = expected.norm().item()
    return (found - expected).norm().item() / norm if norm > 0 else found.norm().item()


def check(case, dtype, device, seed=0):
    """The errors of the output and of each gradient."""
    generator = torch.Generator().manual_seed(seed)
    inputs = rounded(case, case.inputs(generator), dtype, device)
    exact = [
        x if x is None or not x.is_floating_point() else x.detach().double().requires_grad_(x.requires_grad)
        for x in inputs
    ]
    with torch.no_grad():
        shape = case.composed(*exact).shape
    d_out = torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype).double()
    expected = run(case.composed, exact, d_out)
    found = run(case.operator, inputs, d_out)
    again = run(case.operator, inputs, d_out)
    assert all(torch.equal(a, b) for a, b in zip(found, again)), f"{case.name}: two runs differ"
    return [error(f, e) for f, e in zip(found, expected)]


def report(cases, device):
    """Prints a line for each case and type; returns how many are wrong."""
    wrong = 0
    for case in cases:
        for dtype in case.types:
            errors = check(case, dtype, device)
            bad = not all(e <= TOLERANCES[dtype] for e in errors)
            wrong += bad
            kind = str(dtype).removeprefix("torch.")
            numbers = " ".join(f"{e:.1e}" for e in errors)
            print(f"{case.name:52} {kind:9} {numbers}{'   WRONG' if bad else ''}", flush=True)
    return wrong
