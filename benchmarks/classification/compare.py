#!/usr/bin/env python3
"""Trains ResNet-18 on an image folder with the same recipe in Saccade and timm, and compares both.

The recipe: RandomResizedCrop, flips, RandAugment, mixup and CutMix, random erasing, label smoothing, AdamW and
a cosine schedule with warm-up, all from scratch. timm's train.py is in its repository, not in its package; timm
1.0.20 needs Pillow below 13.

Example:
  cells.py data/bccd cells
  compare.py cells results.jsonl saccade --seed 0
  compare.py cells results.jsonl timm --seed 0 --train-script pytorch-image-models/train.py
"""
import argparse
import csv
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SACCADE = os.environ.get("SACCADE", f"{HOME}/saccade")
WARMUP = 2

CONFIG = """
base: saccade:_base_/models/classifier.yaml
model:
  backbone: {{depth: 18, norm_eval: false}}
  head: {{type: linear_cls, loss: {{type: soft_cross_entropy, label_smoothing: 0.1}}}}
data:
  root: {data}
  train: {{type: image_folder, folder: train}}
  val: {{type: image_folder, folder: val}}
  image_size: [{size}, {size}]
  train_transforms: [{{type: random_resized_crop, scale: [0.35, 1]}}, {{type: random_flip}},
    {{type: rand_augment}}, {{type: normalize}}]
  batch_augments: [{{type: mixup_cutmix}}, {{type: pixel_erasing}}]
  val_transforms: [{{type: resize_edge, scale: {resize}}}, {{type: center_crop}}, {{type: normalize}}]
  batch_size: {batch}
  workers: 1
optimizer: {{type: adamw, learning_rate: 1e-3, weight_decay: 0.05, norms: {{weight_decay_factor: 0}}, biases: {{weight_decay_factor: 0}}}}
schedule: {{type: timm_cosine, warmup_epochs: {warmup}, warmup_learning_rate: 1e-5, min_learning_rate: 0}}
epochs: {epochs}
evaluation: {{every: {{epochs: {epochs}}}}}
checkpoint: {{every: {{epochs: {epochs}}}}}
seed: {seed}
log_interval: 1
device: cpu
"""


def saccade(args, work):
    resize = round(args.size / 0.875)
    with open(f"{work}/config.yaml", "w", encoding="utf-8") as file:
        file.write(CONFIG.format(data=args.data, size=args.size, resize=resize, batch=args.batch, warmup=WARMUP,
                                 epochs=args.epochs, seed=args.seed))
    execute([SACCADE, "train", "config.yaml", "--out", "run"], args, work)
    steps, accuracy = [], None
    with open(f"{work}/run/metrics.jsonl", encoding="utf-8") as file:
        for line in file:
            entry = json.loads(line)
            if "seconds" in entry:
                steps.append(entry["seconds"])
            accuracy = entry.get("metrics", {}).get("top1", accuracy)
    return accuracy, steps


def timm(args, work):
    execute([sys.executable, args.train_script, "--data-dir", args.data, "--train-split", "train", "--val-split", "val",
             "--num-classes", str(args.classes), "--model", "resnet18", "--img-size", str(args.size), "--batch-size",
             str(args.batch), "--opt", "adamw", "--lr", "1e-3", "--weight-decay", "0.05", "--sched", "cosine", "--epochs",
             str(args.epochs), "--warmup-epochs", str(WARMUP), "--warmup-lr", "1e-5", "--min-lr", "0", "--cooldown-epochs",
             "0", "--sched-on-updates", "--scale", "0.35", "1.0", "--aa", "rand-m9-mstd0.5-inc1", "--mixup", "0.8",
             "--cutmix", "1.0", "--reprob", "0.25", "--smoothing", "0.1", "--train-interpolation", "bicubic",
             "--interpolation", "bicubic", "--crop-pct", "0.875", "--seed", str(args.seed), "--workers", "1", "--device",
             "cpu", "--log-interval", "1", "--output", work, "--experiment", "run"], args, work)
    with open(f"{work}/run/summary.csv", encoding="utf-8") as file:
        accuracy = float(list(csv.DictReader(file))[-1]["eval_top1"]) / 100
    with open(f"{work}/log.txt", encoding="utf-8") as file:
        steps = [float(t) for t in re.findall(r"Train: \d+ \[.*?Time: ([\d.]+)s", file.read())]
    return accuracy, steps


def execute(command, args, work):
    env = {**os.environ, "OMP_NUM_THREADS": str(args.threads), "MKL_NUM_THREADS": str(args.threads)}
    if args.threads == 1:
        env["SACCADE_JAVA_OPTIONS"] = "-Dai.djl.pytorch.num_threads=1"
    with open(f"{work}/log.txt", "a", encoding="utf-8") as log:
        subprocess.run(command, check=True, stdout=log, stderr=log, env=env, cwd=work)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="image folder with train/ and val/")
    parser.add_argument("results", help="append the result to this JSON Lines file")
    parser.add_argument("side", choices=["saccade", "timm"])
    parser.add_argument("--train-script", help="train.py of timm's repository")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    args.data = os.path.abspath(args.data)
    args.train_script = args.train_script and os.path.abspath(args.train_script)
    args.classes = len(glob.glob(f"{args.data}/train/*/"))
    work = tempfile.mkdtemp(prefix="classify-")
    start = time.time()
    accuracy, steps = {"saccade": saccade, "timm": timm}[args.side](args, work)
    result = {"side": args.side, "seed": args.seed, "epochs": args.epochs, "top1": round(accuracy, 4),
              "step_seconds": round(statistics.median(steps), 4), "steps": len(steps),
              "wall_seconds": round(time.time() - start, 1)}
    with open(args.results, "a", encoding="utf-8") as file:
        file.write(json.dumps(result) + "\n")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
