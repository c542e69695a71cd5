#!/usr/bin/env python3
"""Reads epochs of augmented training images in Saccade or timm, and prints images per CPU second.

Both sides decode, crop and resize to 224x224, flip, apply RandAugment (m9, mstd0.5, inc1), normalize, erase and
collate batches of 25 images with one thread. Later epochs run compiled code, so read the last lines.

Example:
  loader.py photos saccade
  loader.py photos timm
"""
import argparse
import os
import subprocess
import time

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLASS_PATH = os.environ.get("SACCADE_CLASS_PATH", f"{HOME}/cli/target/saccade/lib/*")


def saccade(args):
    bench = f"{HOME}/benchmarks/classification/LoaderBench.java"
    options = ["-XX:+UseParallelGC", "-Xmn128m"]
    crop = ["reduced_decoding: true"] if args.reduced_decoding else []
    subprocess.run(["java", *options, "-cp", CLASS_PATH, bench, args.data, str(args.epochs), *crop], check=True)


def timm(args):
    import torch
    from timm.data import create_transform
    from torchvision.datasets import ImageFolder

    torch.set_num_threads(1)
    transform = create_transform((3, 224, 224), is_training=True, auto_augment="rand-m9-mstd0.5-inc1",
                                 interpolation="bicubic", color_jitter=None, re_prob=0.25, re_mode="pixel")
    data = ImageFolder(f"{args.data}/train", transform)
    for _ in range(args.epochs):
        cpu, wall, images = time.process_time(), time.time(), 0
        for batch, _ in torch.utils.data.DataLoader(data, 25, shuffle=True, drop_last=True):
            images += len(batch)
        print(f"timm: {images} images, {images / (time.process_time() - cpu):.1f} per CPU second, "
              f"{images / (time.time() - wall):.1f} per second", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="image folder with train/")
    parser.add_argument("side", choices=["saccade", "timm"])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--reduced-decoding", action="store_true", help="decode JPEGs at a reduced size (Saccade)")
    args = parser.parse_args()
    {"saccade": saccade, "timm": timm}[args.side](args)


if __name__ == "__main__":
    main()
