#!/usr/bin/env python3
"""Checks the GPU kernels on a machine without a GPU.

--emulate runs them on the CPU and compares them with torch operators in float64. Without it, NVRTC
compiles all kernels for sm_80 and sm_90, and the registers, spills and shared memory of each are printed.
"""

import argparse
import importlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "src/test/python"))

from checks import operators, report  # noqa: E402
from emulation import Emulation  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--emulate", action="store_true")
    parser.add_argument("operators", nargs="*", default=operators())
    arguments = parser.parse_args()
    emulation = Emulation()
    cases = [case for name in arguments.operators for case in importlib.import_module(name).CASES]
    if arguments.emulate:
        return report(cases, "cpu")
    import nvrtc

    return nvrtc.report(emulation, cases)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
