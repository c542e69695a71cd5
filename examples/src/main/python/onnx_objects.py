"""Prints the objects on a photograph with a detector that `saccade export --format onnx` has written.

    python onnx_objects.py FOLDER-OF-EXPORT PHOTO LEAST-SCORE

It needs numpy, onnxruntime and opencv-python.
"""

import json
import sys
from pathlib import Path

import cv2
import numpy as np
import onnxruntime


def up_to(divisor, edges):
    return [-(-edge // divisor) * divisor for edge in edges]


def resized(photo, scales, keep_ratio, ratio_range, divisor, **_):
    if len(scales) != 1 or ratio_range:
        sys.exit(f"a resize that is not known, to one of many sizes: {scales}")
    edges, size = scales[0], photo.shape[1::-1]
    if keep_ratio:
        factor = min(max(edges) / max(size), min(edges) / min(size))
        edges = [max(1, int(edge * factor + 0.5)) for edge in size]
    for new in edges, up_to(divisor, edges):
        photo = cv2.resize(photo, new, interpolation=cv2.INTER_LINEAR)
    return photo


def prepared(photo, description):
    """The image without its padding, and the size with it: width and height."""
    size = photo.shape[1::-1]
    for transform in description["transforms"]:
        kind = transform["type"]
        if kind == "resize":
            photo = resized(photo, **transform)
            size = photo.shape[1::-1]
        elif kind == "normalize":
            mean, std = np.float32(transform["mean"]), np.float32(transform["std"])
            photo = (photo - mean) / std
        elif kind == "pad":
            size = up_to(transform["divisor"], size)
            if transform["size"]:
                size = np.maximum(photo.shape[1::-1], transform["size"][::-1])
        else:
            sys.exit(f"a transform that is not known: {transform}")
    if description["image_size"]:
        size = description["image_size"][::-1]
    return np.float32(photo), size


def main(folder, file, least_score):
    description = json.loads((Path(folder) / "model.json").read_text(encoding="utf-8"))
    if (description["task"], description["format"]) != ("detection", "onnx"):
        sys.exit(f"{folder}: is no detector in ONNX")
    photo = cv2.imread(file, cv2.IMREAD_COLOR)  # upright, as its EXIF orientation says
    if photo is None:
        sys.exit(f"{file}: is no image that OpenCV reads")
    image, (width, height) = prepared(cv2.cvtColor(photo, cv2.COLOR_BGR2RGB), description)
    images = np.zeros((1, 3, height, width), np.float32)
    images[0, :, : image.shape[0], : image.shape[1]] = image.transpose(2, 0, 1)
    sizes = np.float32([image.shape[1::-1]])
    session = onnxruntime.InferenceSession(Path(folder) / "model.onnx")
    names = [output["name"] for output in description["outputs"]]
    found = dict(zip(names, session.run(names, {"images": images, "sizes": sizes})))
    factors = np.tile(sizes[0] / photo.shape[1::-1], 2)
    for i in range(found["counts"][0]):
        score = found["scores"][0, i]
        if score >= float(least_score):
            label = description["classes"][found["labels"][0, i]]
            print(label, f"{score:.4f}", *(f"{x:.2f}" for x in found["boxes"][0, i] / factors))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("expected: FOLDER-OF-EXPORT PHOTO LEAST-SCORE")
    main(*sys.argv[1:])
