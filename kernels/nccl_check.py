#!/usr/bin/env python3
"""Checks all-reduce over NCCL with one rank per GPU of this machine.

Without a GPU it only checks that libtorch for CUDA loads the library and finds the group. Requires
the torch version that the libraries were built for.
"""

import pathlib
import socket
import sys
import threading

import torch

LIBRARIES = pathlib.Path(__file__).parent / "src/main/resources/native/linux-x86_64"
SECONDS = 30.0


def run(rank, world, port, failures):
    name, token = f"rank {rank}", torch.zeros(())
    torch.ops.saccade.join_group(token, name, "127.0.0.1", port, SECONDS, "127.0.0.1", rank, world)
    try:
        torch.ops.saccade.add_nccl(token, name, "127.0.0.1", port, SECONDS)
        x = torch.full((1 << 20,), float(rank), device=f"cuda:{rank}")
        torch.ops.saccade.all_reduce_([x], name)
        if not bool((x == world * (world - 1) / 2).all()):
            failures.append(f"{name}: wrong sums")
    except (RuntimeError, ValueError) as e:
        if torch.cuda.is_available() or "no GPUs found" not in str(e):
            failures.append(f"{name}: {e}")
    finally:
        torch.ops.saccade.leave_group(token, name, "")


def main():
    for library in ("libsaccade.so", "libsaccade_nccl.so"):
        torch.ops.load_library(LIBRARIES / library)
    world = max(2, torch.cuda.device_count()) if torch.cuda.device_count() != 1 else 1
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    failures = []
    ranks = [
        threading.Thread(target=run, args=(rank, world, port, failures)) for rank in range(world)
    ]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    how = f"{world} ranks" if torch.cuda.is_available() else "found, but there is no GPU to use it"
    print("\n".join(failures) or f"NCCL {torch.ops.saccade.nccl_version()}: {how}")
    return len(failures)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
