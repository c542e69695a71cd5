"""Detects objects with a model from `saccade export --format onnx`, without Saccade.

    python onnx_objects.py FOLDER-OF-EXPORT IMAGE MIN-SCORE

Needs numpy, onnxruntime and opencv-python.
"""

import json
import sys
from pathlib import Path

import cv2
import numpy as np
import onnxruntime


def up_to(divisor, edges):
    return [-(-edge // divisor) * divisor for edge in edges]


def resize(image, scales, keep_ratio, ratio_range, divisor, backend="cv2", **_):
    if len(scales) != 1 or ratio_range:
        sys.exit(f"unsupported resize, expected a single size: {scales}")
    edges, size = scales[0], image.shape[1::-1]
    if keep_ratio:
        factor = min(max(edges) / max(size), min(edges) / min(size))
        rounding = 0.5 if backend == "cv2" else 0
        edges = [max(1, int(edge * factor + rounding)) for edge in size]
    if backend == "torch":
        image = np.float32(image)
    for new in edges, up_to(divisor, edges):
        image = cv2.resize(image, new, interpolation=cv2.INTER_LINEAR)
    return image


def preprocess(image, description):
    """Returns the image without padding, and the padded width and height."""
    size = image.shape[1::-1]
    for transform in description["transforms"]:
        kind = transform["type"]
        if kind == "resize":
            image = resize(image, **transform)
            size = image.shape[1::-1]
        elif kind == "normalize":
            mean, std = np.float32(transform["mean"]), np.float32(transform["std"])
            image = (image - mean) / std
        elif kind == "pad":
            size = up_to(transform["divisor"], size)
            if transform["size"]:
                size = np.maximum(image.shape[1::-1], transform["size"][::-1])
        else:
            sys.exit(f"unsupported transform: {transform}")
    if description["image_size"]:
        size = description["image_size"][::-1]
    return np.float32(image), size


def main(folder, file, min_score):
    description = json.loads((Path(folder) / "model.json").read_text(encoding="utf-8"))
    if (description["task"], description["format"]) != ("detection", "onnx"):
        sys.exit(f"{folder}: is not an ONNX detector")
    original = cv2.imread(file, cv2.IMREAD_COLOR)  # applies the EXIF orientation
    if original is None:
        sys.exit(f"{file}: is not an image that OpenCV can read")
    image, (width, height) = preprocess(cv2.cvtColor(original, cv2.COLOR_BGR2RGB), description)
    images = np.zeros((1, 3, height, width), np.float32)
    images[0, :, : image.shape[0], : image.shape[1]] = image.transpose(2, 0, 1)
    sizes = np.float32([image.shape[1::-1]])
    session = onnxruntime.InferenceSession(Path(folder) / "model.onnx")
    names = [output["name"] for output in description["outputs"]]
    found = dict(zip(names, session.run(names, {"images": images, "sizes": sizes})))
    factors = np.tile(sizes[0] / original.shape[1::-1], 2)
    for i in range(found["counts"][0]):
        score = found["scores"][0, i]
        if score >= float(min_score):
            label = description["classes"][found["labels"][0, i]]
            print(label, f"{score:.4f}", *(f"{x:.2f}" for x in found["boxes"][0, i] / factors))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("expected: FOLDER-OF-EXPORT IMAGE MIN-SCORE")
    main(*sys.argv[1:])
