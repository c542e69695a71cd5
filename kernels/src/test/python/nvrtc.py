"""Resources of GPU kernels, as compiled by NVRTC."""

import ctypes
import glob
import pathlib
import re

import torch

from checks import NATIVE, rounded

STDINT = """#pragma once
typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t;
typedef unsigned short uint16_t; typedef int int32_t; typedef unsigned uint32_t;
typedef long int64_t; typedef unsigned long uint64_t; typedef unsigned long uintptr_t;
"""


def library():
    folder = pathlib.Path(torch.__file__).parent / "../nvidia"
    found = sorted(glob.glob(f"{folder}/c*/lib/libnvrtc.so.1?"))
    return ctypes.CDLL(found[0] if found else "libnvrtc.so.12")


def compile(nvrtc, source, options):
    """Compiler log of a source such as nms/nms.cu."""
    texts = {str(p.relative_to(NATIVE)): p.read_bytes() for p in NATIVE.glob("*/*") if p.is_file() and p.suffix != ".cpp"}
    headers = {"stdint.h": STDINT.encode(), **texts}

    def strings(values):
        values = list(values)
        return (ctypes.c_char_p * len(values))(*values)

    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), texts[source], source.encode(), len(headers),
        strings(headers.values()), strings(name.encode() for name in headers),
    )
    status = nvrtc.nvrtcCompileProgram(program, len(options), strings(o.encode() for o in options))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    if status != 0:
        raise SystemExit(f"{source} {' '.join(options)}\n{log.value.decode()}")
    return log.value.decode()


def used(log, function):
    """Registers, and bytes of stack, spills and static shared memory."""
    part = log[log.index(f"Compiling entry function '{function}'"):]
    part = part.split("Compiling entry function")[1]
    number = lambda pattern: int((re.search(pattern, part) or [0, 0])[1])
    spills = number(r"(\d+) bytes spill stores") + number(r"(\d+) bytes spill loads")
    return number(r"Used (\d+) registers"), number(r"(\d+) bytes stack frame"), spills, number(r"(\d+) bytes smem")


def report(emulation, cases):
    """Prints a line per kernel, options and architecture; returns the number of kernels that spill."""
    emulation.only_note(True)
    for case in cases:
        for dtype in case.types:
            inputs = rounded(case, case.inputs(torch.Generator().manual_seed(0)), dtype, "cpu")
            out = case.operator(*inputs)
            if out.requires_grad:
                out.backward(torch.ones_like(out))
    emulation.only_note(False)
    nvrtc, spilling, logs = library(), 0, {}
    print(f"{'kernel':32} {'options':62} arch  regs stack spills shared")
    for source, function, options, threads, shared in emulation.launches():
        for arch in ("sm_80", "sm_90"):
            flags = ["-std=c++17", "-default-device", f"--gpu-architecture={arch}", "--ptxas-options=-v", *options]
            key = (source, *flags)
            if key not in logs:
                logs[key] = compile(nvrtc, source, flags)
            registers, stack, spills, static = used(logs[key], function)
            bad = spills > 0 or stack > 0 or registers * threads > 65536
            spilling += bad
            names = " ".join(o.removeprefix("-D").removeprefix("SACCADE_") for o in options)
            print(
                f"{function:32} {names:62} {arch} {registers:5} {stack:5} {spills:6} "
                f"{static + shared:6}{'   SPILLS' if bad else ''}",
                flush=True,
            )
    return spilling
