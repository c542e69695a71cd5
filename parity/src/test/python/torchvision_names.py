"""Writes OUT/NAME.names for detectors of torchvision: the names and shapes in their published checkpoints."""

import argparse
from pathlib import Path

from torch import nn
from torchvision.models import detection
from torchvision.ops import FrozenBatchNorm2d

# Our recipes, and torchvision's builders.
DETECTORS = {
    "faster_rcnn/resnet50_fpn_torchvision": "fasterrcnn_resnet50_fpn",
    "faster_rcnn/resnet50_fpn_v2_torchvision": "fasterrcnn_resnet50_fpn_v2",
    "mask_rcnn/resnet50_fpn_torchvision": "maskrcnn_resnet50_fpn",
    "mask_rcnn/resnet50_fpn_v2_torchvision": "maskrcnn_resnet50_fpn_v2",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    for recipe, builder in DETECTORS.items():
        model = getattr(detection, builder)(weights=None, weights_backbone=None)
        if not builder.endswith("v2"):
            freeze(model)
        weights = getattr(detection, WEIGHTS[builder]).COCO_V1
        count = sum(parameter.numel() for parameter in model.parameters())
        assert count == weights.meta["num_params"], (builder, count)
        lines = [" ".join([name, *map(str, value.shape)]) for name, value in model.state_dict().items()]
        names = out / f"{recipe}.names"
        names.parent.mkdir(parents=True, exist_ok=True)
        names.write_text("\n".join(lines) + "\n")


WEIGHTS = {
    "fasterrcnn_resnet50_fpn": "FasterRCNN_ResNet50_FPN_Weights",
    "fasterrcnn_resnet50_fpn_v2": "FasterRCNN_ResNet50_FPN_V2_Weights",
    "maskrcnn_resnet50_fpn": "MaskRCNN_ResNet50_FPN_Weights",
    "maskrcnn_resnet50_fpn_v2": "MaskRCNN_ResNet50_FPN_V2_Weights",
}


def freeze(module):
    """Replaces batch normalizations, as if weights were given."""
    for name, child in module.named_children():
        if isinstance(child, nn.BatchNorm2d):
            setattr(module, name, FrozenBatchNorm2d(child.num_features))
        else:
            freeze(child)


if __name__ == "__main__":
    main()
