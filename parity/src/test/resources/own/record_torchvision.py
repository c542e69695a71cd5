"""Records small RetinaNets of torchvision 0.22.1, from bytes to detections: python record_torchvision.py .

The models run in float64. In float32, resized images deviate from these by 7e-6, and batch normalization
in PyTorch's channels-last layout amplifies rounding errors. BatchNorm2d biases are therefore shifted by 1:
fewer constant channels, and float32 gradients within 2e-5 of their maximum instead of 1e-4.
"""

import json
import pathlib
import sys
from functools import partial

import numpy as np
import torch
from torch import nn
from torchvision.models.detection import _utils
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.detection.retinanet import RetinaNet, RetinaNetHead, _default_anchorgen
from torchvision.models.resnet import BasicBlock, ResNet
from torchvision.ops import FrozenBatchNorm2d
from torchvision.ops.feature_pyramid_network import LastLevelP6P7

ROOT = pathlib.Path(sys.argv[1])
WIDTH = 4
CHANNELS = 8
CLASSES = 3
MIN_SIZE, MAX_SIZE = 90, 150
SIZES = [(60, 90), (50, 100), (90, 120)]
BOXES = [
    [[5, 5, 60, 50], [20, 10, 45, 30], [1, 2, 12, 13], [30, 20, 88, 58]],
    [[10, 5, 70, 45]],
    [],
]
LABELS = [[0, 2, 1, 0], [2], []]
GRADIENTS = [
    "backbone.body.conv1.weight",
    "backbone.body.layer1.0.conv1.weight",
    "backbone.body.layer2.0.downsample.0.weight",
    "backbone.fpn.inner_blocks.0.0.weight",
    "backbone.fpn.extra_blocks.p6.weight",
    "backbone.fpn.extra_blocks.p7.bias",
    "head.classification_head.conv.0.0.weight",
    "head.classification_head.cls_logits.weight",
    "head.regression_head.conv.3.0.weight",
    "head.regression_head.bbox_reg.weight",
    "head.regression_head.bbox_reg.bias",
]


class NarrowResNet(ResNet):
    """ResNet-18 with fewer channels."""

    def __init__(self, norm_layer):
        nn.Module.__init__(self)
        self._norm_layer = norm_layer
        self.inplanes, self.dilation, self.groups, self.base_width = WIDTH, 1, 1, 64
        self.conv1 = nn.Conv2d(3, WIDTH, 7, 2, 3, bias=False)
        self.bn1 = norm_layer(WIDTH)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        for i in range(4):
            stage = self._make_layer(BasicBlock, WIDTH << i, 2, stride=1 if i == 0 else 2)
            setattr(self, f"layer{i + 1}", stage)


def retinanet(v2):
    body = NarrowResNet(nn.BatchNorm2d if v2 else FrozenBatchNorm2d)
    backbone = BackboneWithFPN(
        body,
        {f"layer{i + 2}": str(i) for i in range(3)},
        [WIDTH << i for i in (1, 2, 3)],
        CHANNELS,
        LastLevelP6P7(WIDTH * 8 if v2 else CHANNELS, CHANNELS),
    )
    if v2:
        # LastLevelP6P7 compares channels; C5 has more than P5 in the published models, too.
        assert not backbone.fpn.extra_blocks.use_P5
    norm = partial(nn.GroupNorm, 4) if v2 else None
    head = RetinaNetHead(CHANNELS, 9, CLASSES, norm_layer=norm)
    if v2:
        head.regression_head._loss_type = "giou"
    model = RetinaNet(
        backbone, CLASSES, MIN_SIZE, MAX_SIZE, anchor_generator=_default_anchorgen(), head=head,
        detections_per_img=40)
    if not v2:
        _utils.overwrite_eps(model, 0.0)
    return model


def randomize(model, generator):
    """Sets weights to multiples of 1/256, which compress well."""
    state = model.state_dict()
    for name, tensor in state.items():
        if not tensor.is_floating_point():
            continue
        noise = torch.randn(tensor.shape, generator=generator)
        if "running_var" in name or (tensor.ndim == 1 and name.endswith("weight")):
            value = 1 + 0.2 * noise.clamp(-2, 2)
        elif tensor.ndim == 1:
            value = 0.1 * noise
        else:
            value = noise * (1.5 / tensor[0].numel()) ** 0.5
        if name.endswith("cls_logits.bias"):
            value = value - 2
        state[name] = (value * 256).round() / 256
    model.load_state_dict(state)
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.bias += 1


def record(name, v2, seed, recipe):
    generator = torch.Generator().manual_seed(seed)
    model = retinanet(v2)
    randomize(model, generator)
    arrays = {f"weight:{k}": v.clone().numpy() for k, v in model.state_dict().items()
              if not k.endswith("num_batches_tracked")}
    images = []
    for i, (height, width) in enumerate(SIZES):
        coarse = torch.rand((1, 3, height // 5, width // 5), generator=generator)
        image = nn.functional.interpolate(coarse, (height, width), mode="bicubic").clamp(0, 1)[0]
        images.append((image * 255).round().to(torch.uint8))
        arrays[f"image{i}"] = images[i].permute(1, 2, 0).numpy()
        arrays[f"boxes{i}"] = np.array(BOXES[i], np.float32).reshape(-1, 4)
        arrays[f"labels{i}"] = np.array(LABELS[i], np.int64)
    inputs = [image.double() / 255 for image in images]

    model.double().eval()
    with torch.no_grad():
        batch = model.transform(inputs)[0].tensors
        features = list(model.backbone(batch).values())
        outputs = model.head(features)
        detections = model(inputs)
    arrays["batch_s3"] = batch[:, :, ::3, ::3].numpy()
    for i, feature in enumerate(features):
        arrays[f"feature{i}"] = feature.numpy()
    arrays["cls_logits"] = outputs["cls_logits"].numpy()
    arrays["bbox_regression"] = outputs["bbox_regression"].numpy()
    for i, found in enumerate(detections):
        scores = found["scores"]
        print(name, i, len(scores), scores[[0, -1]].tolist(), (scores[:-1] - scores[1:]).min())
        arrays[f"det_boxes{i}"] = found["boxes"].numpy()
        arrays[f"det_scores{i}"] = scores.numpy()
        arrays[f"det_labels{i}"] = found["labels"].numpy()

    model.train()
    targets = [{"boxes": torch.from_numpy(arrays[f"boxes{i}"]).double(),
                "labels": torch.from_numpy(arrays[f"labels{i}"])} for i in range(len(images))]
    losses = model(inputs, targets)
    sum(losses.values()).backward()
    for term, loss in losses.items():
        print(name, term, float(loss))
        arrays[f"loss_{term}"] = loss.detach().numpy().reshape(1)
    parameters = dict(model.named_parameters())
    for key in GRADIENTS:
        arrays[f"grad:{key}"] = parameters[key].grad.numpy()

    for key, array in arrays.items():
        if array.dtype == np.float64:
            arrays[key] = array.astype(np.float32)
    folder = ROOT / name
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "io.npz", **arrays)
    settings = [
        "model.backbone.depth=18", f"model.backbone.stem_channels={WIDTH}",
        f"model.backbone.base_channels={WIDTH}", "model.backbone.frozen_stages=-1",
        f"model.neck.out_channels={CHANNELS}", f"model.head.feat_channels={CHANNELS}",
        "model.head.nms.max_per_img=40", f"data.image_size=[{MAX_SIZE}, {MIN_SIZE}]",
    ] + (["model.head.norm_groups=4"] if v2 else [])
    case = {"kind": "torchvision_retinanet", "recipe": recipe, "settings": settings,
            "classes": CLASSES, "source": "torchvision 0.22.1", "seed": seed}
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


record("torchvision_retinanet", False, 5, "retinanet/resnet50_fpn_torchvision")
record("torchvision_retinanet_v2", True, 3, "retinanet/resnet50_fpn_v2_torchvision")
