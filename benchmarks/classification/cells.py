#!/usr/bin/env python3
"""Writes the objects of a COCO data set as an image folder per class, for classification.

Example:
  cells.py data/bccd cells --most 300
writes cells/train/RBC/..., cells/val/Platelets/... Needs Pillow.
"""
import argparse
import json
import os
import random

from PIL import Image


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="COCO data set: annotations_train.json, annotations_val.json, images/")
    parser.add_argument("out")
    parser.add_argument("--most", type=int, default=300, help="images of each class and split")
    parser.add_argument("--border", type=float, default=0.1, help="border around a box, relative to its size")
    args = parser.parse_args()
    for part in ("train", "val"):
        with open(f"{args.data}/annotations_{part}.json", encoding="utf-8") as file:
            write_cells(json.load(file), f"{args.data}/images", f"{args.out}/{part}", args.most, args.border)


def write_cells(coco, images, out, most, border):
    files = {image["id"]: image["file_name"] for image in coco["images"]}
    for category in coco["categories"]:
        objects = [a for a in coco["annotations"] if a["category_id"] == category["id"] and min(a["bbox"][2:]) >= 8]
        chosen = sorted(random.Random(0).sample(objects, min(most, len(objects))), key=lambda a: a["id"])
        folder = f"{out}/{category['name']}"
        os.makedirs(folder, exist_ok=True)
        for label in chosen:
            image = Image.open(f"{images}/{files[label['image_id']]}").convert("RGB")
            x, y, w, h = label["bbox"]
            edge = max(w, h) * (1 + 2 * border)
            left, top = x + w / 2 - edge / 2, y + h / 2 - edge / 2
            box = [max(0, left), max(0, top), min(image.width, left + edge), min(image.height, top + edge)]
            image.crop([round(v) for v in box]).save(f"{folder}/{label['id']}.png")
        print(f"{folder}: {len(chosen)} images")


if __name__ == "__main__":
    main()
