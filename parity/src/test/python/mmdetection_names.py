"""Writes OUT/NAME.names for detectors of mmdetection: the names and shapes in the checkpoints of its zoo."""

import argparse
from pathlib import Path

import mmcv_operators  # noqa: F401, before mmdet
import mmdet
from mmdet.registry import MODELS
from mmdet.utils import register_all_modules
from mmengine.config import Config

CONFIGS = Path(mmdet.__file__).parent / ".mim/configs"

# Our recipes, and the configs that their checkpoints are of.
DETECTORS = {
    "atss/resnet50_fpn_1x_coco": "atss/atss_r50_fpn_1x_coco.py",
    "dyhead/resnet50_fpn_1x_coco": "dyhead/atss_r50_fpn_dyhead_1x_coco.py",
    "dyhead/swin_large_fpn_2x_coco": "dyhead/atss_swin-l-p4-w12_fpn_dyhead_ms-2x_coco.py",
    "htc/resnet50_fpn_1x_coco": "htc/htc_r50_fpn_1x_coco.py",
    "htc/resnext101_64x4d_fpn_20e_coco": "htc/htc_x101-64x4d_fpn_16xb1-20e_coco.py",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    register_all_modules()
    for recipe, file in DETECTORS.items():
        model = MODELS.build(Config.fromfile(CONFIGS / file).model)
        lines = [" ".join([name, *map(str, value.shape)]) for name, value in model.state_dict().items()]
        names = out / f"{recipe}.names"
        names.parent.mkdir(parents=True, exist_ok=True)
        names.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
