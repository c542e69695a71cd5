"""Records anchors and assignments of mmdetection 3.3.0: python record_boxes.py ."""

import json
import pathlib
import sys

import numpy as np
import torch
from mmdet.models.task_modules.assigners import MaxIoUAssigner
from mmdet.models.task_modules.prior_generators import AnchorGenerator
from mmengine.structures import InstanceData

ROOT = pathlib.Path(sys.argv[1])


def write(name, case, arrays):
    folder = ROOT / name
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "io.npz", **arrays)
    case = {**case, "source": "mmdet 3.3.0"}
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


def anchors(name, configs, grids, padded):
    arrays = {}
    for k, config in enumerate(configs):
        generator = AnchorGenerator(**config)
        levels = generator.grid_priors(grids, device="cpu")
        valid = generator.valid_flags(grids, padded, device="cpu")
        for level in range(len(grids)):
            arrays[f"base{k}_{level}"] = generator.base_anchors[level].numpy()
            arrays[f"anchors{k}_{level}"] = levels[level].numpy()
            arrays[f"valid{k}_{level}"] = valid[level].numpy().astype(np.int64)
    case = {"kind": "anchors", "cls": "AnchorGenerator", "config": configs,
            "feature_sizes": grids, "pad_shape": padded}
    write(name, case, arrays)


def assignments(name, configs, seed):
    random = np.random.default_rng(seed)

    def boxes(count, sizes):
        corners = random.integers(-10, 90, (count, 2))
        return np.concatenate([corners, corners + random.integers(*sizes, (count, 2))], 1)

    found = boxes(120, (4, 60))
    truth = found[random.permutation(120)[:6]] + random.integers(-4, 5, (6, 4))
    # Regions small and large: the share of a box in them is not that of them in a box.
    ignored = np.concatenate([boxes(4, (3, 9)), boxes(2, (50, 80))])
    found, truth, ignored = (torch.from_numpy(b.astype(np.float32)) for b in (found, truth, ignored))
    labels = torch.arange(len(truth)) % 3
    arrays = {"boxes": found.numpy(), "gt": truth.numpy(), "gt_labels": labels.numpy(),
              "gt_ignore": ignored.numpy()}
    none = InstanceData(bboxes=truth[:0], labels=labels[:0])
    for k, config in enumerate(configs):
        assigner = MaxIoUAssigner(**config)
        objects = InstanceData(bboxes=truth, labels=labels)
        priors = InstanceData(priors=found)
        result = assigner.assign(priors, objects, InstanceData(bboxes=ignored))
        arrays[f"gt_inds{k}"] = result.gt_inds.numpy()
        arrays[f"max_overlaps{k}"] = result.max_overlaps.numpy()
        arrays[f"labels{k}"] = result.labels.numpy()
        arrays[f"gt_inds_noignore{k}"] = assigner.assign(priors, objects).gt_inds.numpy()
        if k == 0:
            arrays["gt_inds_empty"] = assigner.assign(priors, none).gt_inds.numpy()
    write(name, {"kind": "assigner", "cls": "MaxIoUAssigner", "config": configs}, arrays)


retina = {"octave_base_scale": 4, "scales_per_octave": 3, "ratios": [0.5, 1.0, 2.0],
          "strides": [8, 16], "center_offset": 0.5}
rpn = {"scales": [2, 8], "ratios": [0.5, 1.0, 2.0], "strides": [4, 32], "center_offset": 0.3}
spelled_out = {**rpn, "center_offset": 0.0, "scale_major": True, "base_sizes": None,
               "centers": None}
anchors("anchors_center_offset", [retina, rpn, spelled_out], [[4, 6], [2, 3]], [30, 41])

thresholds = {"pos_iou_thr": 0.5, "neg_iou_thr": 0.4, "min_pos_iou": 0.2, "ignore_iof_thr": 0.5}
assignments(
    "assigner_ignored_regions",
    [
        {**thresholds, "ignore_wrt_candidates": True},
        {**thresholds, "ignore_wrt_candidates": False},
        {**thresholds, "ignore_wrt_candidates": False, "match_low_quality": False},
        {**thresholds, "ignore_wrt_candidates": False, "ignore_iof_thr": 0.9,
         "gt_max_assign_all": False},
    ],
    1,
)
