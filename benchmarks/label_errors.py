#!/usr/bin/env python3
"""Measures how well suspected label errors find known errors. Needs only Python's standard library.

damage: damages a fraction of the labels of a COCO file, a third of them in each way: the label is
removed (missing), its class is changed (class), or its box is shifted by 30 to 60 % of its size (box).
Writes the damaged labels and the list of damages.

score: compares a file label_errors.json of Saccade with the list of damages. A suspect is correct if its
box and a damage's box (for "box": the original or the shifted one) have an IoU of at least 0.5; each
damage counts once.

Example:
  benchmarks/label_errors.py damage data/bccd/annotations.json damaged.json damages.json --seed 1
  benchmarks/label_errors.py score damages.json out/label_errors.json
"""
import argparse
import json
import math
import random

KINDS = ("missing", "class", "box")


def damage(args):
    rng = random.Random(args.seed)
    with open(args.annotations, encoding="utf-8") as file:
        coco = json.load(file)
    images = {image["id"]: image for image in coco["images"]}
    classes = [category["id"] for category in coco["categories"]]
    chosen = sorted(rng.sample(range(len(coco["annotations"])), round(args.fraction * len(coco["annotations"]))))
    kinds = [KINDS[i % 3] for i in range(len(chosen))]
    rng.shuffle(kinds)
    removed, damages = set(), []
    for index, kind in zip(chosen, kinds):
        label = coco["annotations"][index]
        image = images[label["image_id"]]
        entry = {"kind": kind, "image_id": image["id"], "file_name": image["file_name"],
                 "category_id": label["category_id"], "bbox": label["bbox"]}
        if kind == "missing":
            removed.add(index)
        elif kind == "class":
            label["category_id"] = rng.choice([c for c in classes if c != label["category_id"]])
        else:
            label["bbox"] = shifted(label["bbox"], image, rng)
            label.pop("segmentation", None)
            entry["damaged_bbox"] = label["bbox"]
        damages.append(entry)
    coco["annotations"] = [a for i, a in enumerate(coco["annotations"]) if i not in removed]
    for path, value in ((args.damaged, coco), (args.damages, damages)):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)
    print(f"{len(damages)} of {len(chosen) + len(coco['annotations']) - len(chosen) + len(removed)} labels damaged")


def shifted(box, image, rng):
    """Shifts a box by 30 to 60 % of its size in a random direction that keeps its center inside the image."""
    x, y, w, h = box
    while True:
        amount, angle = rng.uniform(0.3, 0.6), rng.uniform(0, 2 * math.pi)
        left, top = x + amount * math.cos(angle) * w, y + amount * math.sin(angle) * h
        if 0 <= left + w / 2 <= image["width"] and 0 <= top + h / 2 <= image["height"]:
            x1, y1 = max(left, 0), max(top, 0)
            x2, y2 = min(left + w, image["width"]), min(top + h, image["height"])
            if x2 - x1 >= 1 and y2 - y1 >= 1:
                return [x1, y1, x2 - x1, y2 - y1]


def iou(a, b):
    w = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    h = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    return w * h / (a[2] * a[3] + b[2] * b[3] - w * h)


def score(args):
    with open(args.damages, encoding="utf-8") as file:
        damages = json.load(file)
    with open(args.suspects, encoding="utf-8") as file:
        suspects = json.load(file)["suspects"]
    hits = matched(suspects, damages)
    n = len(damages)
    print(f"{n} damages, {len(suspects)} suspects")
    print(f"precision at {n}: {sum(h is not None for h in hits[:n]) / n:.3f}")
    for factor in (1, 2):
        print(f"recall at {factor * n}: {sum(h is not None for h in hits[:factor * n]) / n:.3f}")
    print(f"average precision: {average_precision(hits, n):.3f}")
    print("kind       damages  recall@N  recall@2N  named right@2N")
    for kind in KINDS:
        members = {i for i, d in enumerate(damages) if d["kind"] == kind}
        found = [[s for s, h in zip(suspects[:f * n], hits) if h in members] for f in (1, 2)]
        right = sum(s["kind"] == kind for s in found[1])
        print(f"{kind:10s} {len(members):7d} {len(found[0]) / len(members):9.3f} "
              f"{len(found[1]) / len(members):10.3f} {right / max(len(found[1]), 1):15.3f}")
    for kind in sorted({s["kind"] for s in suspects}):
        of_kind = [h for s, h in zip(suspects[:n], hits) if s["kind"] == kind]
        if of_kind:
            print(f"{kind}: {len(of_kind)} of the first {n} suspects, "
                  f"precision {sum(h is not None for h in of_kind) / len(of_kind):.3f}")


def matched(suspects, damages):
    """Returns the index of the damage that each suspect finds, or None."""
    by_image, free = {}, set(range(len(damages)))
    for index, entry in enumerate(damages):
        by_image.setdefault(entry["image_id"], []).append(index)
    hits = []
    for suspect in suspects:
        boxes = [b for b in (suspect.get("label_bbox"), suspect.get("predicted_bbox")) if b]
        best, best_iou = None, 0.5
        for index in by_image.get(suspect["image_id"], []):
            entry = damages[index]
            targets = [entry["bbox"]] + ([entry["damaged_bbox"]] if "damaged_bbox" in entry else [])
            overlap = max(iou(a, b) for a in boxes for b in targets)
            if index in free and overlap >= best_iou:
                best, best_iou = index, overlap
        free.discard(best)
        hits.append(best)
    return hits


def average_precision(hits, n):
    total, found = 0.0, 0
    for rank, hit in enumerate(hits, 1):
        if hit is not None:
            found += 1
            total += found / rank
    return total / n


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("damage", help="damage a fraction of the labels")
    command.add_argument("annotations")
    command.add_argument("damaged")
    command.add_argument("damages")
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--fraction", type=float, default=0.1)
    command.set_defaults(run=damage)
    command = commands.add_parser("score", help="score a ranking of suspects")
    command.add_argument("damages")
    command.add_argument("suspects")
    command.set_defaults(run=score)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
