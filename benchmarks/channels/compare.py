#!/usr/bin/env python3
"""Trains a detector on RGB and on 13 bands of the same images, and compares the AP.

Appends a line of JSON per run to RESULTS. Finished runs are skipped, so an interrupted comparison can continue.
Data sets are from bands.py.

Example:
  benchmarks/channels/compare.py sets results.jsonl --seeds 0 1 2
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SACCADE = shlex.split(os.environ.get("SACCADE", f"{os.path.dirname(os.path.dirname(HERE))}/saccade"))
NAMES = ["rgb", "bands"]
METRICS = ["AP", "AP50", "AP75"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", help="folder written by bands.py")
    parser.add_argument("results")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    args = parser.parse_args()
    done = {(each["name"], each["seed"]) for each in read(args.results)}
    for seed in args.seeds:
        for name in NAMES:
            if (name, seed) not in done:
                train(args, name, seed)
    print_table(read(args.results))


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def train(args, name, seed):
    with tempfile.TemporaryDirectory() as work:
        start = time.time()
        execute("train", f"{HERE}/{name}.yaml", "--data", f"{args.sets}/{name}", "--set", f"seed={seed}",
                "--out", f"{work}/run")
        seconds = round(time.time() - start)
        metrics = json.loads(execute("eval", f"{work}/run", "--json"))
    result = {"name": name, "seed": seed, "seconds": seconds, **{key: metrics["metrics"][key] for key in METRICS}}
    with open(args.results, "a", encoding="utf-8") as file:
        file.write(json.dumps(result) + "\n")


def execute(*arguments):
    command = [*SACCADE, *arguments]
    print(shlex.join(command), flush=True)
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def print_table(results):
    print("| Images | AP | AP50 | AP75 | Seeds |")
    print("|---|---|---|---|---|")
    for name in NAMES:
        runs = [each for each in results if each["name"] == name]
        columns = [mean_deviation([each[metric] for each in runs]) for metric in METRICS]
        print(f"| {name} | {' | '.join(columns)} | {len(runs)} |")


def mean_deviation(values):
    text = f"{statistics.mean(values):.3f}"
    return text if len(values) < 2 else f"{text} ± {statistics.stdev(values):.3f}"


if __name__ == "__main__":
    main()
