#!/usr/bin/env python3
"""Adds images to a subset: the suggestions of `saccade suggest`, and random images for comparison.

The run must be trained on the subset. Writes SUBSET+suggested and SUBSET+random0, SUBSET+random1, ...
next to it, with the labels of the full data set. Needs only Python's standard library.

Example:
  suggest.py data/bccd sets/bccd25-0 runs/bccd25-0 --count 25 --seeds 3
"""
import argparse
import os
import random
import subprocess
import tempfile

import subsets


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="full data set that subsets.py read")
    parser.add_argument("subset", help="subset that subsets.py wrote")
    parser.add_argument("run", help="run trained on the subset")
    parser.add_argument("--count", type=int, default=25)
    parser.add_argument("--seeds", type=int, default=3, help="number of random selections")
    parser.add_argument("--saccade", default="./saccade")
    args = parser.parse_args()
    full = subsets.load(f"{args.data}/annotations_train.json")
    val = subsets.load(f"{args.data}/annotations_val.json")
    images = os.path.abspath(f"{args.data}/images")
    labeled = {image["file_name"] for image in subsets.load(f"{args.subset}/annotations_train.json")["images"]}
    others = [image["file_name"] for image in full["images"] if image["file_name"] not in labeled]
    selections = {f"random{seed}": random.Random(seed).sample(others, args.count) for seed in range(args.seeds)}
    selections["suggested"] = suggested(args, images, others)
    for name, added in selections.items():
        names = labeled | set(added)
        chosen = [image for image in full["images"] if image["file_name"] in names]
        ids = {image["id"] for image in chosen}
        train = {**full, "images": chosen, "annotations": [a for a in full["annotations"] if a["image_id"] in ids]}
        folder = f"{os.path.normpath(args.subset)}+{name}"
        subsets.write(folder, images, {"train": train, "val": val})
        print(f"{folder}: {len(train['images'])} images, {len(train['annotations'])} objects")


def suggested(args, images, others):
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(f"{work}/unlabeled")
        for name in others:
            os.symlink(f"{images}/{name}", f"{work}/unlabeled/{name}")
        subprocess.run([args.saccade, "suggest", args.run, f"{work}/unlabeled", "--count", str(args.count),
                        "--out", f"{work}/suggestions"], check=True)
        found = subsets.load(f"{work}/suggestions/annotations_train.json")
        return [image["file_name"] for image in found["images"]]


if __name__ == "__main__":
    main()
