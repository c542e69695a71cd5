"""Fused operators whose GPU kernels run on the CPU."""

import ctypes
import os
import pathlib
import subprocess

import torch

from checks import KERNELS, NATIVE

BUILD = KERNELS / "target" / "emulation"


def build():
    """Builds the operators with GPU kernels together with an emulation of CUDA."""
    BUILD.mkdir(parents=True, exist_ok=True)
    tests = KERNELS / "src/test/cpp"
    texts = sorted(p for p in NATIVE.glob("*/*") if p.is_file() and p.suffix != ".cpp")
    embedded = ['#include "cuda/cuda.h"\nconst saccade::cuda::Source saccade::cuda::SOURCES[] = {']
    embedded += [f'{{"{t.relative_to(NATIVE)}", R"~~~({t.read_text()})~~~"}},' for t in texts] + ["{nullptr, nullptr}};\n"]
    (BUILD / "cuda_sources.cpp").write_text("\n".join(embedded))
    sources = [tests / "emulate.cpp", BUILD / "cuda_sources.cpp", NATIVE / "common/library_op.cpp"]
    for launcher in sorted(NATIVE.glob("*/*_cuda.cpp")):
        sources += [launcher, *launcher.parent.glob("*_op.cpp")]
    sources += [NATIVE / "key_only_attention/product_cpu.cpp"]
    torch_folder = pathlib.Path(torch.__file__).parent
    flags = "-std=c++20 -O1 -fPIC -fvisibility=hidden -mavx2 -mfma -mf16c".split() + [
        f"-I{tests}",  # its dispatch.h replaces the one of the library
        f"-I{NATIVE}",
        "-isystem", f"{torch_folder}/include",
        "-isystem", f"{torch_folder}/include/torch/csrc/api/include",
    ]
    objects = []
    newest = max(h.stat().st_mtime for h in [*NATIVE.glob("*/*.h"), *tests.glob("common/*.h")])
    for source in sources:
        object = BUILD / f"{source.stem}.o"
        objects.append(object)
        if not object.exists() or object.stat().st_mtime < max(newest, source.stat().st_mtime):
            subprocess.run(["g++", *flags, "-c", source, "-o", object], check=True)
    library = BUILD / "libsaccade_emulated.so"
    subprocess.run(
        ["g++", "-shared", "-o", library, *objects, f"-L{torch_folder}/lib", "-ltorch_cpu", "-lc10"], check=True
    )
    return library


class Emulation:
    def __init__(self):
        os.environ["EMULATED_SOURCES"] = str(KERNELS / "src")
        os.environ["EMULATED_BUILD"] = str(BUILD)
        library = build()
        torch.ops.load_library(str(library))
        self._library = ctypes.CDLL(str(library))
        self._library.emulated_launches.restype = ctypes.c_char_p

    def only_note(self, on):
        """Records launches without running them."""
        self._library.emulated_dry(int(on))

    def launches(self):
        """Source, function, options, threads and shared memory of each kernel launched so far."""
        lines = self._library.emulated_launches().decode().splitlines()
        return [(s, f, o.split(), int(t), int(m)) for s, f, o, t, m in (line.split("|") for line in lines)]
