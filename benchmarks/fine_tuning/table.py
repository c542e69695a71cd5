#!/usr/bin/env python3
"""Prints a Markdown table of the results of compare.py, and draws AP against the number of images.

Example:
  table.py results.jsonl --chart data_efficiency.png --chart-set bccd
The table needs only Python's standard library, the chart Matplotlib.
"""
import argparse
import json
import re
import statistics

ORDER = ["saccade", "saccade_tuned", "yolo11n", "yolo11s", "torchvision_mobilenet", "torchvision_resnet50"]
NAMES = {"saccade": "Saccade", "saccade_tuned": "Saccade, tuned", "yolo11n": "YOLO11n", "yolo11s": "YOLO11s",
         "torchvision_mobilenet": "torchvision Faster R-CNN, MobileNetV3 320",
         "torchvision_resnet50": "torchvision Faster R-CNN, ResNet-50"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("--chart", help="write a chart to this PNG or SVG file")
    parser.add_argument("--chart-set", default="bccd", help="data set whose subsets are in the chart")
    parser.add_argument("--chart-minutes", type=float, default=5, help="training time of the runs in the chart")
    args = parser.parse_args()
    groups = {}
    with open(args.results, encoding="utf-8") as file:
        for line in file:
            result = json.loads(line)
            name = re.sub(r"-\d+$", "", result["set"])
            groups.setdefault((name, result["minutes"]), {}).setdefault(result["side"], []).append(result)
    print("| Training images | Minutes | Model | AP | AP50 | Seeds | Epochs | Seconds | Memory |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, minutes in sorted(groups, key=lambda key: (family(key[0]), size(key[0]), key[1])):
        sides = groups[name, minutes]
        for side in sorted(sides, key=rank):
            runs = sides[side]
            print(f"| {name} | {minutes:g} | {NAMES.get(side, side)} | {mean(runs, 'AP')} | {mean(runs, 'AP50')} | "
                  f"{len(runs)} | {runs[0]['epochs']} | {statistics.mean(r['seconds'] for r in runs):.0f} | "
                  f"{max(r['memory_mib'] for r in runs) / 1024:.1f} GiB |")
    if args.chart:
        draw(groups, args.chart_set, args.chart_minutes, args.chart)


def family(name):
    return re.sub(r"\d*$", "", name)


def size(name):
    digits = re.search(r"\d*$", name).group()
    return int(digits) if digits else float("inf")


def rank(side):
    return (ORDER.index(side), "") if side in ORDER else (len(ORDER), side)


def mean(runs, key):
    values = [run[key] for run in runs]
    deviation = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.3f}{deviation}"


def draw(groups, dataset, minutes, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    points = {}
    for (name, time), sides in groups.items():
        if family(name) == dataset and size(name) != float("inf") and time == minutes:
            for side in NAMES.keys() & sides:
                points.setdefault(side, []).append((size(name), [run["AP"] for run in sides[side]]))
    figure, axes = pyplot.subplots(figsize=(6, 4), dpi=150)
    for side in sorted(points, key=rank):
        values = sorted(points[side])
        deviations = [statistics.stdev(v[1]) if len(v[1]) > 1 else 0 for v in values]
        axes.errorbar([v[0] for v in values], [statistics.mean(v[1]) for v in values], deviations,
                      marker="o", capsize=3, label=NAMES[side])
    axes.set_xlabel("training images")
    axes.set_ylabel("AP on the validation images")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    main()
