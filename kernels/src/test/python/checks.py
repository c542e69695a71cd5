"""Compares operators with torch compositions in float64, forward and backward."""

import pathlib
from dataclasses import dataclass
from typing import Callable

import torch

KERNELS = pathlib.Path(__file__).parents[3]
NATIVE = KERNELS / "src/main/native"


def operators():
    """Names of the operators with GPU kernels; each has a module here."""
    return sorted({launcher.parent.name for launcher in NATIVE.glob("*/*_cuda.cpp")})


# Errors relative to the norm of the expected values.
TOLERANCES = {torch.float64: 1e-12, torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


@dataclass
class Case:
    """An operator with inputs."""

    name: str
    operator: Callable  # takes tensors of the stored type
    composed: Callable  # reference for float64 tensors
    inputs: Callable[[torch.Generator], list]  # float64 tensors, or None
    fixed: tuple = ()  # indices of inputs without gradient
    always: tuple = ()  # indices of inputs that stay float32
    types: tuple = (torch.float32, torch.float16, torch.bfloat16)


def rounded(case, inputs, dtype, device):
    """Inputs in the stored type."""

    def one(i, x):
        if x is None or not x.is_floating_point():
            return x if x is None else x.to(device)
        kept = torch.float32 if i in case.always and dtype != torch.float64 else dtype
        y = x.to(device, kept).detach()
        return y if i in case.fixed else y.requires_grad_()

    return [one(i, x) for i, x in enumerate(inputs)]


def run(operator, inputs, d_out):
    """Output and gradients in float64."""
    out = operator(*inputs)
    wanted = [x for x in inputs if x is not None and x.requires_grad]
    gradients = torch.autograd.grad(out, wanted, d_out.to(out.device, out.dtype)) if wanted else ()
    return [t.detach().double().cpu() for t in (out, *gradients)]


def error(found, expected):
    norm = expected.norm().item()
    return (found - expected).norm().item() / norm if norm > 0 else found.norm().item()


def check(case, dtype, device, seed=0):
    """Errors of the output and of each gradient."""
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
    """Prints a line per case and type; returns the number of failures."""
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
