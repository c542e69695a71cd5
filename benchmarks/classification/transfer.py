#!/usr/bin/env python3
"""Compares a detector that starts from a classifier's backbone with the same detector from scratch.

For each seed, SIZE random training images are for the detector. The classifier trains on cells cropped from the
other training images, so it has class labels of other images only. Both detectors use the same images, config,
seed and number of steps. Residual branches do not start at zero: after a few steps, they would still be closed.

Example:
  transfer.py data/bccd work results.jsonl --seeds 3
"""
import argparse
import json
import os
import random
import subprocess

from cells import write_cells
from compare import CONFIG, HOME, SACCADE

DETECTOR = f"{HOME}/configs/retinanet/resnet18_fpn_bccd.yaml"
WARMUP = 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="COCO data set: annotations_train.json, annotations_val.json, images/")
    parser.add_argument("work", help="write data sets and runs to this folder")
    parser.add_argument("results", help="append results to this JSON Lines file")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--images", type=int, default=50, help="training images of the detector")
    parser.add_argument("--epochs", type=int, default=24, help="epochs of the detector")
    parser.add_argument("--pretrain-epochs", type=int, default=24)
    parser.add_argument("--size", type=int, default=64, help="size of a cell in pixels")
    args = parser.parse_args()
    args.data = os.path.abspath(args.data)
    for seed in args.seeds:
        work = os.path.abspath(f"{args.work}/{seed}")
        write_data(args, seed, work)
        top1 = pretrain(args, seed, work)
        result = {"seed": seed, "images": args.images, "epochs": args.epochs, "top1": top1}
        for name, weights in {"scratch": "none", "pretrained": f"{work}/classifier"}.items():
            result[name] = detect(args, seed, work, name, weights)
        with open(args.results, "a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
        print(json.dumps(result))


def write_data(args, seed, work):
    parts = {}
    for part in ("train", "val"):
        with open(f"{args.data}/annotations_{part}.json", encoding="utf-8") as file:
            parts[part] = json.load(file)
    images = sorted(parts["train"]["images"], key=lambda image: image["id"])
    chosen = {image["id"] for image in random.Random(seed).sample(images, args.images)}
    rest = {image["id"] for image in images} - chosen
    write_cells(subset(parts["train"], rest), f"{args.data}/images", f"{work}/cells/train", 300, 0.1)
    write_cells(parts["val"], f"{args.data}/images", f"{work}/cells/val", 300, 0.1)
    os.makedirs(f"{work}/boxes", exist_ok=True)
    if not os.path.exists(f"{work}/boxes/images"):
        os.symlink(f"{args.data}/images", f"{work}/boxes/images")
    for part, coco in {"train": subset(parts["train"], chosen), "val": parts["val"]}.items():
        with open(f"{work}/boxes/annotations_{part}.json", "w", encoding="utf-8") as file:
            json.dump(coco, file)


def subset(coco, ids):
    return {**coco, "images": [image for image in coco["images"] if image["id"] in ids],
            "annotations": [a for a in coco["annotations"] if a["image_id"] in ids]}


def pretrain(args, seed, work):
    with open(f"{work}/classifier.yaml", "w", encoding="utf-8") as file:
        file.write(CONFIG.format(data=f"{work}/cells", size=args.size, resize=round(args.size / 0.875), batch=32,
                                 warmup=WARMUP, epochs=args.pretrain_epochs, seed=seed))
    train(work, f"{work}/classifier.yaml", "classifier", "--set", "model.backbone.zero_init_residual=false")
    return metric(f"{work}/classifier", "top1")[-1]


def detect(args, seed, work, name, weights):
    train(work, DETECTOR, name, "--data", f"{work}/boxes", "--init-from", weights, "--epochs", str(args.epochs),
          "--set", f"seed={seed}", "--set", f"evaluation.every.epochs={args.epochs // 4}")
    return metric(f"{work}/{name}", "AP")


def metric(run, name):
    """Returns the values of all evaluations."""
    with open(f"{run}/metrics.jsonl", encoding="utf-8") as file:
        return [round(e["metrics"][name], 4) for e in map(json.loads, file) if e["event"] == "evaluation"]


def train(work, config, name, *options):
    """Trains unless the run is finished already."""
    if os.path.exists(f"{work}/{name}/report.html"):
        return
    with open(f"{work}/{name}.log", "a", encoding="utf-8") as log:
        subprocess.run([SACCADE, "train", config, "--out", f"{work}/{name}", "--device", "cpu", *options],
                       check=True, stdout=log, stderr=log, cwd=HOME)


if __name__ == "__main__":
    main()
