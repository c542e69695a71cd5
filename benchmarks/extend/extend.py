#!/usr/bin/env python3
"""Compares ways to add classes to a detector: AP of the old and new classes on all validation images.

For each seed, trains a detector on the old data (methods share it), and adds the new classes:
  fine_tuning   continues from its weights on the new data only, for as many steps; the labels lack the old classes
  replay_N      saccade extend --replay N
  joint         trains from scratch on both, with labels of all classes
Appends a line of JSON per method to RESULTS. Finished methods are skipped, so an interrupted comparison can
continue. Data sets are from split.py.

Example:
  benchmarks/extend/extend.py sets results.jsonl --config configs/retinanet/resnet18_fpn_bccd.yaml --seeds 0 1 2
  benchmarks/extend/extend.py --table results.jsonl
"""
import argparse
import collections
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import tempfile
import time

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SACCADE = shlex.split(os.environ.get("SACCADE", f"{HOME}/saccade"))
METHODS = ["fine_tuning", "replay_0", "replay_10", "replay_50", "joint"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="?", help="folder written by split.py")
    parser.add_argument("results", nargs="?")
    parser.add_argument("--config", help="config of the detector; its data set is replaced")
    parser.add_argument("--name", default="bccd", help="name of the data in the results")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--epochs", type=int, help="epochs of the old and the joint detector; default: the config's")
    parser.add_argument("--new-epochs", type=int, help="epochs of fine_tuning and of each training of extend; "
                        "default: as many steps as the old detector")
    parser.add_argument("--max-drop", type=float, default=1, help="of extend; 1 always writes a run")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="further settings")
    parser.add_argument("--runs", help="keep the runs in this folder; default: a temporary folder")
    parser.add_argument("--table", metavar="RESULTS", help="only print the table of a results file")
    args = parser.parse_args()
    if args.table:
        print_table(read(args.table))
        return
    if not args.sets or not args.results or not args.config:
        parser.error("expected SETS, RESULTS and --config")
    with tempfile.TemporaryDirectory() as temporary:
        for seed in args.seeds:
            done = {each["method"] for each in read(args.results) if (each["data"], each["seed"]) == (args.name, seed)}
            methods = [each for each in args.methods if each not in done]
            if methods:
                compare(args, seed, methods, f"{args.runs or temporary}/{args.name}-{seed}")
    print_table(read(args.results))


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def compare(args, seed, methods, work):
    os.makedirs(work, exist_ok=True)
    old = f"{work}/old"
    if not os.path.exists(f"{old}/report.html"):
        train(args, f"{args.sets}/old-{seed}", seed, old, args.epochs)
    before = evaluate(old)
    for method in methods:
        out = f"{work}/{method}"
        start = time.time()
        result = {"data": args.name, "seed": seed, "method": method, "before": before}
        if method == "joint":
            train(args, f"{args.sets}/joint-{seed}", seed, out, args.epochs)
            result["after"] = evaluate(out)
        elif method == "fine_tuning":
            result["after"] = fine_tune(args, seed, old, out)
        else:
            options = ["--replay", method.split("_")[1], "--max-drop", str(args.max_drop), "--out", out]
            options += ["--epochs", str(args.new_epochs)] if args.new_epochs else []
            execute("extend", old, "--data", f"{args.sets}/new-{seed}", *options)
            result["extension"] = load(f"{out}/extension.json")
            classes = result["extension"]["classes"]
            result["after"] = {each["name"]: each["after"] for part in classes.values() for each in part
                               if each["metric"] == "AP"}
        result["seconds"] = round(time.time() - start)
        with open(args.results, "a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def train(args, data, seed, out, epochs, *options):
    parts = [("train", "annotations_train.json"), ("val", "annotations_val.json")]
    settings = [f"data.{role}={{type: coco, annotations: {file}, images: images}}" for role, file in parts]
    settings += [f"seed={seed}"] + ([f"epochs={epochs}", "iterations=null"] if epochs else []) + args.set
    execute("train", args.config, "--data", data, *options, *(p for s in settings for p in ("--set", s)), "--out", out)


def fine_tune(args, seed, old, out):
    """Trains on the new data, with all classes in its categories but objects of the new classes only."""
    data = f"{out}_data"
    os.makedirs(data, exist_ok=True)
    if not os.path.lexists(f"{data}/images"):
        os.symlink(os.path.abspath(f"{args.sets}/new-{seed}/images"), f"{data}/images")
    for part in ("train", "val"):
        coco = load(f"{args.sets}/new-{seed}/annotations_{part}.json")
        coco["categories"] = load(f"{args.sets}/joint-{seed}/annotations_{part}.json")["categories"]
        with open(f"{data}/annotations_{part}.json", "w", encoding="utf-8") as file:
            json.dump(coco, file)
    with open(f"{old}/config.yaml", encoding="utf-8") as file:
        epochs = int(re.search(r"^epochs: (\d+)", file.read(), re.MULTILINE).group(1))
    old_images, new_images = (len(load(f"{args.sets}/{name}-{seed}/annotations_train.json")["images"])
                              for name in ("old", "new"))
    train(args, data, seed, out, args.new_epochs or round(epochs * old_images / new_images),
          "--init-from", f"{old}/checkpoints/best.safetensors")
    shutil.copy(f"{args.sets}/joint-{seed}/annotations_val.json", f"{data}/annotations_val.json")
    return evaluate(out)


def evaluate(run):
    """Returns the AP of each class on the validation set of a run."""
    classes = json.loads(execute("eval", run, "--json"))["classes"]
    return {each["name"]: each["ap"] for each in classes}


def execute(*arguments):
    command = [*SACCADE, *map(str, arguments)]
    print(shlex.join(command), flush=True)
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def print_table(results):
    print("| Data | Method | Old classes before | Old classes | Largest drop | New classes | Minutes | Seeds |")
    print("|---|---|---|---|---|---|---|---|")
    groups = collections.defaultdict(list)
    for result in results:
        groups[result["data"], METHODS.index(result["method"]) if result["method"] in METHODS else 99,
               result["method"]].append(result)
    for (data, _, method), group in sorted(groups.items()):
        columns = [mean_deviation(values) for values in zip(*map(summary, group))]
        minutes = statistics.mean(each["seconds"] for each in group) / 60
        print(f"| {data} | {method} | {' | '.join(columns)} | {minutes:.1f} | {len(group)} |")


def summary(result):
    """Returns the mean AP of old classes before and after, their largest drop, and the mean AP of new classes."""
    before, after = result["before"], result["after"]
    drops = [before[name] - after[name] for name in before]
    return (statistics.mean(before.values()), statistics.mean(after[name] for name in before), max(drops),
            statistics.mean(value for name, value in after.items() if name not in before))


def mean_deviation(values):
    text = f"{statistics.mean(values):.3f}"
    return text if len(values) < 2 else f"{text} ± {statistics.stdev(values):.3f}"


if __name__ == "__main__":
    main()
