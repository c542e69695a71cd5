#!/usr/bin/env python3
"""Compares training steps and predictions of Saccade with eager PyTorch, and writes a page.

The PyTorch models are torchvision's Mask R-CNN, and UperNet, with Swin-T or with Swin-T and ELSA (using
unfold). Focal-T has no counterpart; it is compared with Swin-T. On a GPU, image sizes are as in the
papers; use --small on machines without a GPU.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import time

import torch

KERNELS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(KERNELS / "src/test/python"))

import eager  # noqa: E402

torch.backends.cudnn.allow_tf32 = False  # as in Saccade

DETECTION, SEGMENTATION = (800, 1344), (512, 512)
CASES = [
    ("Mask R-CNN Swin-T", "mask_rcnn/swin_tiny_fpn_1x_coco", DETECTION, lambda: eager.mask_rcnn(eager.swin())),
    ("Mask R-CNN ELSA-Swin-T", "mask_rcnn/elsa_swin_tiny_fpn_1x_coco", DETECTION, lambda: eager.mask_rcnn(eager.elsa_swin())),
    ("Mask R-CNN Focal-T (peer: Swin-T)", "mask_rcnn/focal_tiny_fpn_1x_coco", DETECTION, lambda: eager.mask_rcnn(eager.swin())),
    ("UperNet Swin-T", "upernet/swin_tiny_160k_ade20k", SEGMENTATION, lambda: eager.UperNet(eager.swin())),
]


def seconds(step, device, runs):
    """Median wall time of a synchronized step."""
    times = []
    for _ in range(runs + 2):
        start = time.perf_counter()
        step()
        if device.type == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:])


def peer(make, size, arguments, precision, train):
    """Seconds per step or prediction, and peak memory of tensors in MiB (on GPUs)."""
    device = torch.device(arguments.device)
    torch.manual_seed(0)
    model = make().to(device).train(train)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-6, fused=device.type == "cuda")
    scaler = torch.amp.GradScaler(device.type, enabled=precision == "float16")
    pixels = torch.randn(arguments.batch_size, 3, *size, device=device)
    targets = eager.targets(arguments.batch_size, size, device)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()

    def autocast():
        if precision == "float32":
            return contextlib.nullcontext()
        return torch.autocast(device.type, getattr(torch, precision))

    def step():
        with autocast():
            loss = model.loss(pixels, targets)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        scaler.step(optimizer)
        scaler.update()

    @torch.no_grad()
    def predict():
        with autocast():
            model.predict(pixels)

    found = seconds(step if train else predict, device, arguments.runs)
    peak = torch.cuda.max_memory_allocated() >> 20 if device.type == "cuda" else 0
    return found, peak


def ours(config, size, arguments, precision, train):
    """Output of bench model --json."""
    command = shlex.split(arguments.saccade) + ["bench", "model", str(arguments.configs / (config + ".yaml"))]
    command += ["--size", f"{size[0]}x{size[1]}", "--batch-size", str(arguments.batch_size), "--runs", str(arguments.runs)]
    command += ["--device", arguments.device, "--precision", precision, "--json", "--fused-only"]
    command += ["--train", "--max-batch-size", "0"] if train else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = [text for text in done.stderr.splitlines() if text.startswith("saccade: ")]
        raise RuntimeError(said[0] if said else f"saccade: exit {done.returncode}")
    return json.loads(done.stdout[done.stdout.index("{") :])


def measure(case, arguments, precision, train):
    name, config, size, make = case
    row = {"name": name, "pass": "training" if train else "prediction", "precision": precision}
    if arguments.small:
        size = tuple(side // 4 // 32 * 32 for side in size)
    row |= {"images": arguments.batch_size, "size": f"{size[0]}x{size[1]}"}
    try:
        row["eager"], row["eager_mib"] = peer(make, size, arguments, precision, train)
    except (RuntimeError, ImportError) as e:
        row["eager_failed"] = str(e).splitlines()[0]
    if arguments.device != "cpu":
        torch.cuda.empty_cache()  # cached memory would be missing in the other process
    try:
        row["saccade"] = ours(config, size, arguments, precision, train)
    except (RuntimeError, ValueError) as e:
        row["saccade_failed"] = str(e)
    return row


def line(row):
    def milliseconds(value):
        return f"{1e3 * value:.1f} ms" if value else "-"

    times = row.get("saccade", {}).get("times", {})
    time_of_ours = (times.get("fused") or times.get("portable") or {}).get("median")
    theirs = row.get("eager")
    ratio = f"{theirs / time_of_ours:.2f} x" if theirs and time_of_ours else "-"
    why = row.get("saccade_failed") or row.get("eager_failed") or ""
    reads = row.get("saccade", {}).get("host_reads", "-")
    cells = [row["name"], row["pass"], row["precision"], f"{row['images']} x {row['size']}"]
    return cells + [milliseconds(time_of_ours), milliseconds(theirs), ratio, str(reads), why]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("benchmark"), help="output folder")
    parser.add_argument("--saccade", default=str(KERNELS.parent / "saccade"), help="path of the saccade command")
    parser.add_argument("--configs", type=pathlib.Path, default=KERNELS.parent / "configs")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--precisions", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--only", default="", help="run only cases whose name contains this")
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--small", action="store_true", help="use a quarter of the image size")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    machine = torch.cuda.get_device_name() if arguments.device != "cpu" else f"{os.cpu_count()} CPU cores"
    head = ["model", "pass", "precision", "batch", "Saccade", "eager PyTorch", "ratio", "host reads", ""]
    page = [f"# {machine}, {time.strftime('%Y-%m-%d')}, torch {torch.__version__}", "", "| " + " | ".join(head) + " |"]
    page += ["|" + "---|" * len(head)]
    rows = []
    for case in CASES:
        if arguments.only not in case[0]:
            continue
        for precision in arguments.precisions:
            for train in (True, False):
                rows.append(measure(case, arguments, precision, train))
                page.append("| " + " | ".join(line(rows[-1])) + " |")
                print(page[-1], flush=True)
                # Keeps the results so far if a time limit ends the run.
                (arguments.out / "page.md").write_text("\n".join(page) + "\n")
                (arguments.out / "results.json").write_text(json.dumps(rows, indent=1))
    return sum("saccade_failed" in row for row in rows)


if __name__ == "__main__":
    sys.exit(main())
