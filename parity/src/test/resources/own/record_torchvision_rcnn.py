"""Records narrow Mask R-CNNs of torchvision 0.22.1: python record_torchvision_rcnn.py torchvision_rcnn

Every case has two images of different sizes, the second without objects. All candidates are samples, so that
training is not random. Weights are rounded to float16.
"""

import json
import pathlib
import sys

import cv2
import numpy as np
import torch
from torch import nn
from torchvision.models.detection import MaskRCNN
from torchvision.models.detection._utils import overwrite_eps
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.detection.faster_rcnn import FastRCNNConvFCHead, FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.mask_rcnn import MaskRCNNHeads, MaskRCNNPredictor
from torchvision.models.detection.rpn import AnchorGenerator, RPNHead
from torchvision.models.resnet import BasicBlock, ResNet
from torchvision.ops import FrozenBatchNorm2d

STEM, WIDTH, HIDDEN, CLASSES = 64, 8, 16, 3
SIZES = [(47, 70), (66, 59)]
MIN_SIZE, MAX_SIZE = 80, 104
BIAS = 1.5
SEEDS = {1: 1, 2: 4}
BOXES = [[4.0, 6.0, 31.0, 40.0], [20.0, 3.5, 66.0, 30.0], [25.0, 8.0, 60.0, 33.0]]
LABELS = [2, 1, 3]

# Settings that differ from the recipe.
SETTINGS = [
    "backbone.depth=18",
    "backbone.base_channels=4",
    f"neck.out_channels={WIDTH}",
    f"head.rpn_head.feat_channels={WIDTH}",
    "head.rpn_head.anchor_sizes=[[16], [24], [40], [64], [96]]",
    "head.rpn_head.sampler={num: 20000}",
    "head.rpn_head.train_proposals={nms_pre: 60, max_per_img: 80}",
    "head.rpn_head.test_proposals={nms_pre: 50, max_per_img: 70}",
    f"head.bbox_head.conv_out_channels={WIDTH}",
    f"head.bbox_head.fc_out_channels={HIDDEN}",
    f"head.mask_head.conv_out_channels={WIDTH}",
    "head.nms={score_thr: 0.1, max_per_img: 12}",
]


class Narrow(ResNet):
    """A ResNet-18 with a sixteenth of the channels after the stem."""

    def _make_layer(self, block, planes, blocks, stride=1, dilate=False):
        return super()._make_layer(block, planes // 16, blocks, stride, dilate)


def detector(version):
    norm = FrozenBatchNorm2d if version == 1 else nn.BatchNorm2d
    head_norm = None if version == 1 else nn.BatchNorm2d
    layers = {f"layer{i + 1}": str(i) for i in range(4)}
    backbone = BackboneWithFPN(
        Narrow(BasicBlock, [2, 2, 2, 2], norm_layer=norm), layers, [4, 8, 16, 32], WIDTH, norm_layer=head_norm
    )
    box_head = (
        TwoMLPHead(WIDTH * 7 * 7, HIDDEN)
        if version == 1
        else FastRCNNConvFCHead((WIDTH, 7, 7), [WIDTH] * 4, [HIDDEN], norm_layer=head_norm)
    )
    model = MaskRCNN(
        backbone,
        min_size=MIN_SIZE,
        max_size=MAX_SIZE,
        rpn_anchor_generator=AnchorGenerator(((16,), (24,), (40,), (64,), (96,)), ((0.5, 1.0, 2.0),) * 5),
        rpn_head=RPNHead(WIDTH, 3, conv_depth=version),
        rpn_pre_nms_top_n_train=60,
        rpn_pre_nms_top_n_test=50,
        rpn_post_nms_top_n_train=80,
        rpn_post_nms_top_n_test=70,
        rpn_batch_size_per_image=20000,
        box_head=box_head,
        box_predictor=FastRCNNPredictor(HIDDEN, CLASSES + 1),
        box_score_thresh=0.1,
        box_detections_per_img=12,
        mask_head=MaskRCNNHeads(WIDTH, (WIDTH,) * 4, 1, norm_layer=head_norm),
        mask_predictor=MaskRCNNPredictor(WIDTH, WIDTH, CLASSES + 1),
    )
    if version == 1:
        overwrite_eps(model, 0.0)
    return model


def randomize(model, gain):
    for name, value in model.state_dict().items():
        if not value.is_floating_point():
            continue
        fan_in = value[0].numel() if value.dim() > 1 else 1
        if name.endswith("running_var"):
            value.uniform_(0.5, 1.5)
        elif value.dim() == 1:
            value.normal_(1.0 if "bn" in name and name.endswith("weight") else 0.0, 0.1)
            if name.endswith(".1.weight"):
                value.add_(1.0)
        else:
            value.normal_(0, (gain / fan_in) ** 0.5)
        if "cls_score" in name:
            value.mul_(1.5)
        if "cls_logits" in name:
            value.mul_(1.5 if gain < 1 else 0.1)  # so that no probability is rounded to 1
        if "bbox_pred" in name:
            value.mul_(0.25 if "roi" in name else 0.3 if gain < 1 else 0.05)
        value.copy_(value.half().float())


def calibrate(model, inputs):
    """Raises the biases of batch normalizations, and sets their running statistics to those of the inputs.

    With the biases, few values are near 0, where rounding switches the gradient of a ReLU.
    """
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = 1.0
        norm.bias.add_(BIAS).copy_(norm.bias.half().float())
    model.train()
    model(inputs, targets())
    for norm in norms:
        norm.momentum = 0.1
        norm.num_batches_tracked.zero_()
        for statistic in (norm.running_mean, norm.running_var):
            statistic.copy_(statistic.half().float())


def images(random):
    for height, width in SIZES:
        coarse = random.integers(0, 256, (height // 8 + 1, width // 8 + 1, 3), dtype=np.uint8)
        yield cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)


def targets():
    masks = torch.zeros(len(BOXES), *SIZES[0], dtype=torch.uint8)
    for mask, box in zip(masks, BOXES):
        x1, y1, x2, y2 = (int(c) for c in box)
        mask[y1:y2, x1 : (x1 + x2) // 2] = 1
        mask[y1 : (y1 + y2) // 2, x1:x2] = 1
    empty = torch.zeros(0, *SIZES[1], dtype=torch.uint8)
    return [
        {"boxes": torch.tensor(BOXES), "labels": torch.tensor(LABELS), "masks": masks},
        {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.int64), "masks": empty},
    ]


# Their names and ours, of parameters whose gradients are recorded.
GRADIENTS = {
    "backbone.body.layer2.0.conv1.weight": "backbone.layer2.0.conv1.weight",
    "backbone.fpn.inner_blocks.1.0.weight": "neck.lateral_convs.1.conv.weight",
    "backbone.fpn.layer_blocks.0.0.weight": "neck.fpn_convs.0.conv.weight",
    "rpn.head.cls_logits.weight": "rpn_head.rpn_cls.weight",
    "rpn.head.bbox_pred.weight": "rpn_head.rpn_reg.weight",
    "roi_heads.mask_head.0.0.weight": "roi_head.mask_head.convs.0.conv.weight",
    "roi_heads.mask_predictor.conv5_mask.weight": "roi_head.mask_head.upsample.weight",
}
LOSSES = {
    "loss_objectness": "loss_rpn_cls",
    "loss_rpn_box_reg": "loss_rpn_bbox",
    "loss_classifier": "loss_cls",
    "loss_box_reg": "loss_bbox",
    "loss_mask": "loss_mask",
}


def gradients(model, losses, arrays):
    sum(losses.values()).backward()
    parameters = dict(model.named_parameters())
    for theirs, ours in GRADIENTS.items():
        arrays[f"grad:{ours}"] = parameters[theirs].grad.numpy()
    background = parameters["roi_heads.box_predictor.bbox_pred.weight"].grad.numpy()[4:]
    arrays["grad:roi_head.bbox_head.fc_reg.weight"] = background
    scores = parameters["roi_heads.box_predictor.cls_score.weight"].grad.numpy()
    arrays["grad:roi_head.bbox_head.fc_cls.weight"] = np.roll(scores, -1, 0)


def record(version, out):
    seed = SEEDS[version]
    torch.manual_seed(seed)
    model = detector(version)
    out.mkdir(parents=True, exist_ok=True)
    inputs = []
    for i, image in enumerate(images(np.random.default_rng(seed))):
        cv2.imwrite(str(out / f"image{i}.png"), image)
        rgb = np.ascontiguousarray(image[:, :, ::-1].transpose(2, 0, 1))
        inputs.append(torch.from_numpy(rgb).float() / 255)
    with torch.no_grad():
        randomize(model, gain=0.8 if version == 1 else 2.0)
        if version == 2:
            calibrate(model, inputs)
    weights = {k: v.half() if v.is_floating_point() else v for k, v in model.state_dict().items()}
    torch.save(weights, out / "weights.pth")
    arrays = {}
    model.eval()
    with torch.no_grad():
        batch, _ = model.transform(inputs)
        for level, feature in enumerate(model.backbone(batch.tensors).values()):
            arrays[f"fpn{level}"] = feature.numpy()
        for i, found in enumerate(model(inputs)):
            arrays[f"dets{i}"] = torch.cat([found["boxes"], found["scores"][:, None]], 1).numpy()
            arrays[f"labels{i}"] = found["labels"].numpy() - 1
            masks = found["masks"][:, 0].numpy() >= 0.5
            arrays[f"masks{i}"] = np.packbits(masks)
            arrays[f"masks{i}_shape"] = np.array(masks.shape)
            print(version, found["scores"].numpy().round(3), found["labels"].numpy(), masks.mean())
    model.train()
    wanted = targets()
    arrays["gt_masks"] = np.packbits(wanted[0]["masks"].numpy())
    arrays["gt_masks_shape"] = np.array(wanted[0]["masks"].shape)
    losses = model(inputs, wanted)
    print({k: float(v) for k, v in losses.items()})
    for theirs, ours in LOSSES.items():
        arrays[f"train_{ours}"] = losses[theirs].detach().reshape(1).numpy()
    gradients(model, losses, arrays)
    np.savez_compressed(out / "io.npz", **arrays)
    case = {
        "kind": "detector_torchvision_rcnn",
        "source": "torchvision 0.22.1",
        "seed": seed,
        "recipe": f"mask_rcnn/resnet50_fpn_{'' if version == 1 else 'v2_'}torchvision",
        "settings": SETTINGS,
        "num_classes": CLASSES,
        "image_size": [MAX_SIZE, MIN_SIZE],
        "gt_bboxes": BOXES,
        "gt_labels": [label - 1 for label in LABELS],
    }
    (out / "case.json").write_text(json.dumps(case, indent=1) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for number in (1, 2):
        record(number, pathlib.Path(sys.argv[1]) / f"mask_rcnn_v{number}")
