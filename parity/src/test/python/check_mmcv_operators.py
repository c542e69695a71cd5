"""Holds mmdetection on the stand-in operators against recorded cases: losses, gradients, detections.

    check_mmcv_operators.py CASE...
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch

import mmcv_operators  # noqa: F401, before mmdet
from mmdet.registry import MODELS
from mmdet.structures import DetDataSample
from mmdet.structures.mask import BitmapMasks
from mmdet.utils import register_all_modules
from mmengine.config import ConfigDict
from mmengine.structures import InstanceData, PixelData


def sample(case, io, i, single):
    """The labels of an image."""
    of = (lambda name: io[name]) if single else (lambda name: io[f"{name}{i}"])
    meta = dict(case["img_meta"] if single else case["img_metas"][i])
    meta["scale_factor"] = meta["scale_factor"][:2]
    objects = InstanceData(
        bboxes=torch.from_numpy(of("gt_bboxes")), labels=torch.from_numpy(of("gt_labels")))  # fmt: skip
    found = DetDataSample(metainfo=meta)
    if ("gt_masks" if single else f"gt_masks{i}") in io:
        n, height, width = of("gt_masks_shape")
        masks = np.unpackbits(of("gt_masks"))[: n * height * width].reshape(n, height, width)
        objects.masks = BitmapMasks(masks, height, width)
    if "gt_sem_seg" in io:
        found.gt_sem_seg = PixelData(sem_seg=torch.from_numpy(io["gt_sem_seg"][i]))
    found.gt_instances = objects
    return found


def differences(folder):
    """Yields what was compared, with the largest difference relative to the largest number."""
    case = json.loads((folder / "case.json").read_text())
    io = np.load(folder / "io.npz")
    model = MODELS.build(ConfigDict(case["model"])).eval()
    weights = torch.load(folder / "weights.pth", weights_only=False)["state_dict"]
    model.load_state_dict(weights)
    single = "img_meta" in case
    images = torch.from_numpy(io["img"])
    samples = [sample(case, io, i, single) for i in range(len(images))]

    losses = model.loss(images, samples)
    terms = {name: sum(v) if isinstance(v, list) else v for name, v in losses.items()}
    sum(v for name, v in terms.items() if "loss" in name).backward()
    parameters = dict(model.named_parameters())
    pairs = {name: (v.detach(), io[f"train_{name}"][0]) for name, v in terms.items()}
    pairs |= {name: (parameters[name[5:]].grad, io[name]) for name in io if name.startswith("grad:")}
    with torch.no_grad():
        found = model.predict(images, samples, rescale=True)
    for i, result in enumerate(found):
        objects, number = result.pred_instances, "" if single else i
        order = torch.from_numpy(io[f"labels{number}"])
        # 2.x lists the objects class by class.
        rows = torch.sort(objects.labels, stable=True).indices if single else slice(None)
        assert torch.equal(objects.labels[rows], order), f"{folder.name}: other labels are found"
        boxes = torch.cat([objects.bboxes, objects.scores[:, None]], 1)[rows]
        pairs[f"dets{number}"] = (boxes, io[f"dets{number}"])
    for name, (mine, theirs) in pairs.items():
        mine, theirs = np.asarray(mine), np.asarray(theirs)
        yield name, np.abs(mine - theirs).max() / max(np.abs(theirs).max(), 1e-12)


if __name__ == "__main__":
    register_all_modules()
    wrong = 0
    for folder in map(Path, sys.argv[1:]):
        for name, difference in differences(folder):
            bad = not difference < (2e-3 if name.startswith("grad:") else 1e-4)
            wrong += bad
            print(f"{folder.name:20} {name:60} {difference:.1e}{'   WRONG' if bad else ''}")
    sys.exit(bool(wrong))
