#!/usr/bin/env python3
"""Splits a COCO data set into an old and a new data set, as if new classes were labeled later.

OUT/old-SEED has a random half of the training images with labels of the old classes only, OUT/new-SEED the
other half, or --images of it, with labels of the new classes only. OUT/joint-SEED has the images of both with
labels of all classes. All have the same validation images, with labels of their classes. Training images
without an object of the labeled classes are removed. Needs only Python's standard library.

Example:
  benchmarks/extend/split.py data/bccd sets --new Platelets --seeds 3
"""
import argparse
import json
import os
import random


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="COCO data set: annotations_train.json, annotations_val.json, images/")
    parser.add_argument("out")
    parser.add_argument("--new", nargs="+", required=True, help="names of the new classes")
    parser.add_argument("--images", type=int, help="maximum number of new training images; default: half of all")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    args = parser.parse_args()
    train, val = (load(f"{args.data}/annotations_{part}.json") for part in ("train", "val"))
    names = [category["name"] for category in train["categories"]]
    unknown = set(args.new) - set(names)
    if unknown:
        parser.error(f"unknown classes {sorted(unknown)}; expected some of {names}")
    old = [name for name in names if name not in args.new]
    for seed in args.seeds:
        images = sorted(train["images"], key=lambda image: image["id"])
        random.Random(seed).shuffle(images)
        half = len(images) // 2
        parts = {
            "old": (images[:half], old),
            "new": (images[half:], args.new),
        }
        chosen = {}
        for name, (candidates, classes) in parts.items():
            part = select(train, candidates, classes)
            if name == "new" and args.images:
                part = select(train, part["images"][:args.images], classes)
            chosen[name] = part
            labels = dict(select(val, val["images"], classes), images=val["images"])
            write(f"{args.out}/{name}-{seed}", args.data, part, labels)
        both = chosen["old"]["images"] + chosen["new"]["images"]
        write(f"{args.out}/joint-{seed}", args.data, select(train, both, names), val)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def select(coco, images, classes):
    """Returns the images with objects of some classes, and these objects."""
    categories = [category for category in coco["categories"] if category["name"] in classes]
    wanted = {category["id"] for category in categories}
    ids = {image["id"] for image in images}
    objects = [a for a in coco["annotations"] if a["category_id"] in wanted and a["image_id"] in ids]
    shown = {a["image_id"] for a in objects}
    return {"categories": categories, "images": [i for i in images if i["id"] in shown], "annotations": objects}


def write(folder, data, train, val):
    os.makedirs(folder, exist_ok=True)
    link = f"{folder}/images"
    if not os.path.lexists(link):
        os.symlink(os.path.abspath(f"{data}/images"), link)
    for name, part in (("train", train), ("val", val)):
        with open(f"{folder}/annotations_{name}.json", "w", encoding="utf-8") as file:
            json.dump(part, file)
    print(f"{folder}: {len(train['images'])} training images, {len(train['annotations'])} objects")


if __name__ == "__main__":
    main()
