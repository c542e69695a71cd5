#!/usr/bin/env python3
"""Trains one detector on one data set for a given time, and evaluates it with pycocotools.

Every side trains for the number of epochs that fits into the time, without evaluations during training, and
its final weights are evaluated. `calibrate` times a side on an idle machine; `run` computes the number of
epochs from these costs, so other processes do not change the result. README.md lists the sides.

Example:
  compare.py calibrate costs.json results.jsonl sets/bccd-0 saccade
  compare.py run costs.json results.jsonl sets/bccd25-0 saccade --minutes 5 --seed 0
"""
import argparse
import contextlib
import io
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.dirname(os.path.abspath(__file__))
SACCADE = os.environ.get("SACCADE", f"{HOME}/saccade")


def saccade(args, epochs, work):
    config = args.config or new_config(args, work)
    every = "{epochs: %d}" % epochs
    options = ["--data", args.data, "--epochs", str(epochs), "--out", f"{work}/run",
               "--set", f"seed={args.seed}", "--set", f"evaluation.every={every}", "--set", f"checkpoint.every={every}"]
    options += [part for setting in args.set for part in ("--set", setting)]
    if args.weights:
        options += ["--init-from", args.weights]
    execute([SACCADE, "train", config, *options], args, work)
    execute([SACCADE, "eval", f"{work}/run", "--results", f"{work}/found"], args, work)
    return load(f"{work}/found.bbox.json")


def new_config(args, work):
    execute([SACCADE, "new", args.data, "--out", f"{work}/new.yaml"], args, work)
    return f"{work}/new.yaml"


def image_size(args):
    """Returns the image size of a side, such as 384x288; the time of a step depends on it."""
    if not args.side.startswith("saccade"):
        return str(args.image_size)
    with tempfile.TemporaryDirectory() as work, open(args.config or new_config(args, work), encoding="utf-8") as file:
        return "x".join(re.search(r"image_size: \[(\d+), (\d+)\]", file.read()).groups())


def ultralytics(args, epochs, work, model):
    # A model built from its YAML file starts from scratch.
    source = args.weights or f"{model}.yaml"
    data = f"{args.data}/yolo/data.yaml"
    shared = [f"imgsz={args.image_size}", "device=cpu", "workers=0", f"project={work}", "plots=False", "exist_ok=True"]
    # Ultralytics sets one thread less than there are cores, whatever OMP_NUM_THREADS is.
    yolo = [sys.executable, "-c", f"import os, runpy; os.cpu_count = lambda: {args.threads + 1}; "
            f"runpy.run_path({shutil.which('yolo')!r}, run_name='__main__')", "detect"]
    execute([*yolo, "train", f"model={source}", f"data={data}", f"epochs={epochs}", f"batch={args.batch}",
             f"seed={args.seed}", "name=run", "val=False", *shared], args, work)
    execute([*yolo, "val", f"model={work}/run/weights/last.pt", f"data={data}", "name=val", "conf=0.001",
             "save_json=True", "split=val", *shared], args, work)
    coco = load(f"{args.data}/annotations_val.json")
    ids = {os.path.splitext(image["file_name"])[0]: image["id"] for image in coco["images"]}
    categories = [category["id"] for category in coco["categories"]]
    results = load(f"{work}/val/predictions.json")
    # Ultralytics numbers the classes of a custom data set from 1 in this file.
    return [{**r, "image_id": ids[os.path.splitext(os.path.basename(str(r["file_name"])))[0]],
             "category_id": categories[r["category_id"] - 1]} for r in results]


def torchvision(args, epochs, work, model):
    command = [sys.executable, f"{HERE}/torchvision_detector.py", args.data, f"{work}/found.json", "--model", model,
               "--epochs", str(epochs), "--seed", str(args.seed), "--threads", str(args.threads)]
    execute(command + (["--weights", args.weights] if args.weights else []), args, work)
    return load(f"{work}/found.json")


SIDES = {
    "saccade": saccade,
    "saccade_tuned": saccade,
    "yolo11n": lambda *a: ultralytics(*a, model="yolo11n"),
    "yolo11s": lambda *a: ultralytics(*a, model="yolo11s"),
    "torchvision_mobilenet": lambda *a: torchvision(*a, model="fasterrcnn_mobilenet_v3_large_320_fpn"),
    "torchvision_resnet50": lambda *a: torchvision(*a, model="fasterrcnn_resnet50_fpn"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["calibrate", "run"])
    parser.add_argument("costs", help="JSON file with the measured times")
    parser.add_argument("results", help="append the result to this JSON Lines file")
    parser.add_argument("data", help="a folder written by subsets.py; its name starts with the name of the data set")
    parser.add_argument("side", choices=SIDES)
    parser.add_argument("--minutes", type=float, default=5, help="time of the whole run on an idle machine")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=4, help="batch size of Ultralytics")
    parser.add_argument("--image-size", type=int, default=384, help="longest edge for Ultralytics")
    parser.add_argument("--weights", help="pretrained weights; default: train from scratch")
    parser.add_argument("--config", help="config of Saccade; default: written by `saccade new`")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="setting of Saccade")
    parser.add_argument("--keep", help="move Saccade's run to this folder")
    parser.add_argument("--label", help="name of the side in the results; default: SIDE")
    args = parser.parse_args()
    args.label = args.label or args.side
    args.data = os.path.abspath(args.data)
    args.config = args.config and os.path.abspath(args.config)
    name = re.match(r"[^\d-]*", os.path.basename(os.path.normpath(args.data))).group()
    key = f"{args.side} {name} {image_size(args)}"
    images = len(load(f"{args.data}/annotations_train.json")["images"])
    costs = load(args.costs) if os.path.exists(args.costs) else {}
    if args.action == "calibrate":
        short = 1
        long = short + max(1, round(200 / images))
        seconds = [train(args, epochs)["wall_seconds"] for epochs in (short, long)]
        per_image = (seconds[1] - seconds[0]) / (images * (long - short))
        costs[key] = {"fixed": round(seconds[0] - per_image * images * short, 2), "per_image": round(per_image, 4)}
        with open(args.costs, "w", encoding="utf-8") as file:
            json.dump(costs, file, indent=1)
        print(key, costs[key])
        return
    if key not in costs:
        sys.exit(f"no costs of {key} in {args.costs}; run calibrate with the same data and side")
    cost = costs[key]
    epochs = max(1, int((args.minutes * 60 - cost["fixed"]) / (cost["per_image"] * images)))
    result = train(args, epochs)
    result["seconds"] = round(cost["fixed"] + cost["per_image"] * images * epochs, 1)
    with open(args.results, "a", encoding="utf-8") as file:
        file.write(json.dumps(result) + "\n")
    print(json.dumps(result))


def train(args, epochs):
    work = tempfile.mkdtemp(prefix="compare-")
    start = time.time()
    try:
        found = SIDES[args.side](args, epochs, work)
        seconds = time.time() - start
    except BaseException:
        print(f"the log is {work}/log.txt", file=sys.stderr)
        raise
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    ap, ap50 = evaluate(f"{args.data}/annotations_val.json", found)
    if args.keep:
        shutil.move(f"{work}/run", args.keep)
    shutil.rmtree(work)
    return {"set": os.path.basename(os.path.normpath(args.data)), "side": args.label, "seed": args.seed,
            "minutes": args.minutes, "epochs": epochs, "AP": round(ap, 4), "AP50": round(ap50, 4),
            "wall_seconds": round(seconds, 1), "memory_mib": round(memory)}


def execute(command, args, work):
    env = {**os.environ, "OMP_NUM_THREADS": str(args.threads), "MKL_NUM_THREADS": str(args.threads),
           "YOLO_OFFLINE": "True", "YOLO_AUTOINSTALL": "False"}
    if args.threads == 1:
        env["SACCADE_JAVA_OPTIONS"] = "-Dai.djl.pytorch.num_threads=1"
    with open(f"{work}/log.txt", "a", encoding="utf-8") as log:
        subprocess.run(command, check=True, stdout=log, stderr=log, env=env, cwd=work)


def evaluate(annotations, found):
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval
    if not found:
        return 0.0, 0.0
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(annotations)
        evaluation = COCOeval(truth, truth.loadRes(found), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return float(evaluation.stats[0]), float(evaluation.stats[1])


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


if __name__ == "__main__":
    main()
