"""Trains a small detector in Saccade or in mmdetection, on the CPU and from the same weights.

OUT/KIND-SEED.pth has the weights, OUT/KIND-SEED-SIDE is the run, and a line of OUT/results.jsonl
what came of it: COCO's AP of boxes and masks, seconds of a step and memory."""

import argparse
import json
import os
import resource
import shlex
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).resolve().parents[4]
OWN = Path(__file__).resolve().parent / "configs"
SUBSET = "annotations_of_one_batch.json"


@dataclass(frozen=True)
class Kind:
    """A model that both sides have."""

    config: Path  # ours
    mmdetection: str  # its config that ours follows
    changes: dict = field(default_factory=dict)  # of it, besides the width
    samplers: tuple = ()  # where our config has them


KINDS = {
    "mask_rcnn": Kind(
        CHECKOUT / "configs/mask_rcnn/resnet18_fpn_nuts.yaml",
        "mask_rcnn/mask-rcnn_r50_fpn_1x_coco.py",
        samplers=("model.head.rpn_head.sampler", "model.head.sampler"),
    ),
    "htc": Kind(
        OWN / "htc.yaml",
        "htc/htc-without-semantic_r50_fpn_1x_coco.py",
        samplers=("model.head.rpn_head.sampler", *(f"model.head.stages.{i}.sampler" for i in range(3))),
    ),
    "dyhead": Kind(
        OWN / "dyhead.yaml",
        "dyhead/atss_r50_fpn_dyhead_1x_coco.py",
        {"model.neck.1.num_blocks": 2, "model.bbox_head.anchor_generator.octave_base_scale": 4},
    ),
}


def one_batch(data, recipe, out):
    """Writes the labels of as many photographs as a batch has, so that order does not matter."""
    labels = json.loads((data / "annotations_train.json").read_text())
    labels["images"] = labels["images"][: recipe["data"]["batch_size"]]
    kept = {image["id"] for image in labels["images"]}
    labels["annotations"] = [a for a in labels["annotations"] if a["image_id"] in kept]
    file = (out / SUBSET).resolve()
    file.write_text(json.dumps(labels))
    return file


def saccade(command, kind, recipe, seed, weights, data, run, steps, annotations, plain):
    """Trains in Saccade, and writes detections to found.*.json, unless steps are given."""
    command = shlex.split(command)
    settings = {
        "seed": seed,
        "log_interval": 1,
        "evaluation.every.epochs": recipe["epochs"],
        "checkpoint.every.epochs": recipe["epochs"],
        "data.train.annotations": annotations,
    }
    if steps:
        settings |= {"iterations": steps, "data.val": "null"}
    if plain:
        settings["data.train_transforms"] = "[{type: resize}, {type: normalize}, {type: pad}]"
        settings |= {f"{sampler}.num": 1_000_000 for sampler in kind.samplers}
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    train = ["train", kind.config, "--data", data, "--out", run, "--init-from", weights, "--device", "cpu"]
    subprocess.run([*command, *train, *words], check=True)
    for line in (run / "train.log").read_text().splitlines():
        if "in the checkpoint" in line:
            sys.exit(f"{weights} does not fit: {line}")
    if not steps:
        last = run / "checkpoints/last.safetensors"
        subprocess.run([*command, "eval", last, "--data", data, "--results", run / "found"], check=True)


def average_precision(data, run):
    """COCO's AP of the detections of a run, by pycocotools, of boxes and of masks."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    truth = COCO(data / "annotations_val.json")
    found = {}
    for file in sorted(run.glob("found.*.json")):
        kind = file.suffixes[0][1:]
        detections = json.loads(file.read_text())
        if not detections:  # of which pycocotools makes nothing
            found[f"{kind}_AP"] = 0.0
            continue
        evaluation = COCOeval(truth, truth.loadRes(detections), kind)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        found[f"{kind}_AP"] = evaluation.stats[0]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", choices=["saccade", "mmdetection"])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("seed", type=int)
    parser.add_argument("--data", type=Path, required=True, help="folder of the photographs and labels")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--saccade", default=str(CHECKOUT / "saccade"), metavar="CMD", help="the command")
    parser.add_argument("--threads", type=int, default=1, metavar="T", help="of libtorch")
    parser.add_argument("--init-only", action="store_true", help="make the weights alone")
    parser.add_argument("--steps", type=int, metavar="N", help="so many steps alone, for their time and memory")
    parser.add_argument(
        "--plain",
        action="store_true",
        help="learn one batch, with no flips and all samples: the losses of the sides can be compared",
    )
    a = parser.parse_args()

    os.environ |= {
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": str(a.threads),
        "JAVA_TOOL_OPTIONS": f"-Dai.djl.pytorch.num_threads={a.threads}",
    }
    kind = KINDS[a.kind]
    recipe = yaml.safe_load(kind.config.read_text())
    labels = json.loads((a.data / "annotations_train.json").read_text())
    classes = [category["name"] for category in labels["categories"]]
    data, out = a.data.resolve(), a.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    weights = out / f"{a.kind}-{a.seed}.pth"
    run = out / f"{a.kind}-{a.seed}-{a.side}"
    if run.exists():
        sys.exit(f"{run} is there already")
    if a.init_only or a.side == "mmdetection" or not weights.exists():
        import mmdetection
    if not weights.exists():
        mmdetection.initialize(kind, len(classes), a.seed, weights)
    if a.init_only:
        return
    annotations = one_batch(data, recipe, out) if a.plain else "annotations_train.json"
    if a.side == "saccade":
        saccade(a.saccade, kind, recipe, a.seed, weights, data, run, a.steps, annotations, a.plain)
    else:
        run.mkdir()
        mmdetection.train(kind, recipe, a.seed, weights, data, run, a.steps, annotations, a.plain, classes)

    steps = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    steps = [step for step in steps if step["event"] == "step"]
    who = resource.RUSAGE_CHILDREN if a.side == "saccade" else resource.RUSAGE_SELF
    result = {"kind": a.kind, "seed": a.seed, "side": a.side, "threads": a.threads, "steps": len(steps)}
    result |= {} if a.steps else average_precision(data, run)
    result["seconds"] = statistics.median(step["seconds"] for step in steps)
    result["peak_mib"] = resource.getrusage(who).ru_maxrss / 1024
    with (out / "results.jsonl").open("a") as lines:
        print(json.dumps(result), file=lines)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
