#!/usr/bin/env python3
"""Writes random subsets of a COCO data set, for Saccade (COCO), torchvision (COCO) and Ultralytics (YOLO).

Subset SIZE-SEED has SIZE random training images; SEED selects them. All subsets keep the full validation set.
With SIZE 0, the subset has all training images. Needs only Python's standard library.

Example:
  benchmarks/fine_tuning/subsets.py data/bccd sets --sizes 25 50 0 --seeds 3
writes sets/bccd25-0, sets/bccd25-1, ..., sets/bccd-0, ...
"""
import argparse
import json
import os
import random


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="COCO data set: annotations_train.json, annotations_val.json, images/")
    parser.add_argument("out")
    parser.add_argument("--sizes", type=int, nargs="+", required=True)
    parser.add_argument("--seeds", type=int, default=3, help="number of subsets of each size")
    args = parser.parse_args()
    name = os.path.basename(os.path.normpath(args.data))
    parts = {part: load(f"{args.data}/annotations_{part}.json") for part in ("train", "val")}
    for size in args.sizes:
        for seed in range(args.seeds):
            train = parts["train"] if size == 0 else subset(parts["train"], size, seed)
            folder = f"{args.out}/{name}{size or ''}-{seed}"
            write(folder, os.path.abspath(f"{args.data}/images"), {"train": train, "val": parts["val"]})
            print(f"{folder}: {len(train['images'])} images, {len(train['annotations'])} objects")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def subset(coco, size, seed):
    images = sorted(random.Random(seed).sample(coco["images"], size), key=lambda image: image["id"])
    ids = {image["id"] for image in images}
    return {**coco, "images": images, "annotations": [a for a in coco["annotations"] if a["image_id"] in ids]}


def write(folder, images, parts):
    os.makedirs(folder, exist_ok=True)
    link(images, f"{folder}/images")
    classes = {category["id"]: i for i, category in enumerate(parts["train"]["categories"])}
    for part, coco in parts.items():
        with open(f"{folder}/annotations_{part}.json", "w", encoding="utf-8") as file:
            json.dump(coco, file)
        write_yolo(f"{folder}/yolo", part, images, coco, classes)
    names = "".join(f"  {i}: {json.dumps(c['name'])}\n" for i, c in enumerate(parts["train"]["categories"]))
    with open(f"{folder}/yolo/data.yaml", "w", encoding="utf-8") as file:
        file.write(f"path: {os.path.abspath(folder)}/yolo\ntrain: images/train\nval: images/val\nnames:\n{names}")


def write_yolo(root, part, images, coco, classes):
    os.makedirs(f"{root}/images/{part}", exist_ok=True)
    os.makedirs(f"{root}/labels/{part}", exist_ok=True)
    boxes = {image["id"]: [] for image in coco["images"]}
    for label in coco["annotations"]:
        boxes[label["image_id"]].append(label)
    for image in coco["images"]:
        link(f"{images}/{image['file_name']}", f"{root}/images/{part}/{image['file_name']}")
        stem = os.path.splitext(image["file_name"])[0]
        with open(f"{root}/labels/{part}/{stem}.txt", "w", encoding="utf-8") as file:
            for label in boxes[image["id"]]:
                x, y, w, h = label["bbox"]
                values = ((x + w / 2) / image["width"], (y + h / 2) / image["height"],
                          w / image["width"], h / image["height"])
                file.write(f"{classes[label['category_id']]} " + " ".join(f"{v:.6f}" for v in values) + "\n")


def link(source, target):
    if not os.path.lexists(target):
        os.symlink(source, target)


if __name__ == "__main__":
    main()
