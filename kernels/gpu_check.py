#!/usr/bin/env python3
"""Checks and times the fused operators on a GPU.

Builds the library for the installed torch, compares every operator with torch operators in float64,
forward and backward, and measures its time next to equivalent operators.
"""

import argparse
import importlib
import os
import pathlib
import subprocess
import sys

KERNELS = pathlib.Path(__file__).parent
sys.path.insert(0, str(KERNELS / "src/test/python"))

import torch  # noqa: E402

import checks  # noqa: E402
import timings  # noqa: E402


def build():
    out = KERNELS / "target/gpu"
    settings = {"TORCH": pathlib.Path(torch.__file__).parent, "OUT": out, "JOBS": os.cpu_count()}
    subprocess.run([KERNELS / "build.sh"], check=True, env=os.environ | {k: str(v) for k, v in settings.items()})
    torch.ops.load_library(str(out / "libsaccade.so"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operators", nargs="*", default=checks.operators())
    arguments = parser.parse_args()
    build()
    modules = [importlib.import_module(name) for name in arguments.operators]
    wrong = checks.report([case for m in modules for case in m.CASES], "cuda")
    missed = timings.report([t for m in modules for t in m.TIMINGS])
    if arguments.operators == checks.operators():
        import elsa_swin

        missed += timings.report(elsa_swin.timings())
    print(f"{wrong} wrong, {missed} slower than required")
    return wrong + missed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
