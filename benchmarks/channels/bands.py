#!/usr/bin/env python3
"""Writes a COCO data set twice, with the same labels: as RGB and as 13 bands of 16 bits.

Each band is a fixed mixture of red, green and blue plus an offset. The columns of the 13 x 3 matrix are
orthonormal, so the bands contain the colors exactly, except for rounding. OUT/rgb/images has PNG files,
OUT/bands/images tiled Deflate TIFFs. Prints the range of the bands, and the lines for `normalize`.

Needs numpy, Pillow and tifffile. Example:
  benchmarks/channels/bands.py data/bccd sets --train 60 --val 40 --size 256 192
"""
import argparse
import json
import os
import random

import numpy as np
import tifffile
from PIL import Image

BANDS = 13
MIDDLE = 20000  # stored value of medium gray
SPREAD = 15000  # largest distance from it


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="COCO data set: annotations_train.json, annotations_val.json, images/")
    parser.add_argument("out")
    parser.add_argument("--train", type=int, default=60, help="number of training images")
    parser.add_argument("--val", type=int, default=40, help="number of validation images")
    parser.add_argument("--size", type=int, nargs=2, default=[256, 192], metavar=("WIDTH", "HEIGHT"))
    args = parser.parse_args()
    mixture = matrix()
    print("condition number of the matrix:", np.linalg.cond(mixture))
    for name in ("rgb", "bands"):
        os.makedirs(f"{args.out}/{name}/images", exist_ok=True)
    pixels = []
    for part, count in (("train", args.train), ("val", args.val)):
        coco = subset(load(f"{args.data}/annotations_{part}.json"), count)
        for image in coco["images"]:
            rgb = Image.open(f"{args.data}/images/{image['file_name']}").convert("RGB")
            rgb = np.asarray(rgb.resize(args.size, Image.Resampling.BOX))
            image["file_name"] = os.path.splitext(image["file_name"])[0] + ".png"
            Image.fromarray(rgb).save(f"{args.out}/rgb/images/{image['file_name']}")
            bands = mix(rgb, mixture)
            tifffile.imwrite(tiff(f"{args.out}/bands/images/{image['file_name']}"), bands, tile=(64, 64),
                             compression="zlib", photometric="minisblack", planarconfig="contig")
            if part == "train":
                pixels.append((rgb.reshape(-1, 3), bands.reshape(-1, BANDS)))
        resize(coco, args.size)
        write(f"{args.out}/rgb/annotations_{part}.json", coco)
        for image in coco["images"]:
            image["file_name"] = tiff(image["file_name"])
        write(f"{args.out}/bands/annotations_{part}.json", coco)
    low, high = MIDDLE - SPREAD, MIDDLE + SPREAD
    print(f"range: [{low}, {high}]")
    print_normalize("rgb", np.concatenate([rgb for rgb, _ in pixels]).astype(float))
    print_normalize("bands", (np.concatenate([bands for _, bands in pixels]).astype(float) - low) * 255 / (high - low))


def matrix():
    """Returns orthonormal columns, scaled so that no band exceeds the spread."""
    columns, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(BANDS, 3)))
    return columns * SPREAD / (127.5 * np.abs(columns).sum(axis=1).max())


def mix(rgb, mixture):
    return np.rint((rgb - 127.5) @ mixture.T + MIDDLE).astype(np.uint16)


def subset(coco, size):
    images = sorted(random.Random(0).sample(coco["images"], size), key=lambda image: image["id"])
    ids = {image["id"] for image in images}
    return {**coco, "images": images, "annotations": [a for a in coco["annotations"] if a["image_id"] in ids]}


def resize(coco, size):
    scales = {}
    for image in coco["images"]:
        scales[image["id"]] = (size[0] / image["width"], size[1] / image["height"])
        image["width"], image["height"] = size
    for annotation in coco["annotations"]:
        x, y = scales[annotation["image_id"]]
        annotation["bbox"] = [value * scale for value, scale in zip(annotation["bbox"], (x, y, x, y))]
        annotation["area"] *= x * y
        annotation.pop("segmentation", None)


def tiff(name):
    return os.path.splitext(name)[0] + ".tif"


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write(path, coco):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(coco, file)


def print_normalize(name, values):
    mean, std = (", ".join(f"{x:.1f}" for x in each) for each in (values.mean(axis=0), values.std(axis=0)))
    print(f"{name}: {{type: normalize, mean: [{mean}], std: [{std}]}}")


if __name__ == "__main__":
    main()
