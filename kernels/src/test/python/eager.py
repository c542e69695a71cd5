"""Detectors and segmenters in eager PyTorch, for comparison with Saccade."""

import torch
import torch.nn.functional as F
import torchvision
from torch import nn
from torchvision.models.detection import MaskRCNN
from torchvision.models.detection.image_list import ImageList
from torchvision.ops import FeaturePyramidNetwork
from torchvision.ops.feature_pyramid_network import LastLevelMaxPool

WIDTHS = [96, 192, 384, 768]
CLASSES = {"detection": 80, "segmentation": 80}
OBJECTS = 20


class ComposedElsa(nn.Module):
    """ELSA instead of window attention, channels-last, with unfold."""

    def __init__(self, channels, heads, kernel=7, width=4):
        super().__init__()
        self.heads, self.kernel = heads, kernel
        self.queries = channels // 3 * 2 // width * width
        self.pre = nn.Linear(channels, 2 * self.queries + channels)
        self.spread = nn.Conv2d(self.queries, self.queries, kernel, padding=kernel // 2, groups=self.queries // width)
        self.logits = nn.Conv2d(self.queries, heads * kernel * kernel, 1)
        self.ghost = nn.Parameter(torch.randn(channels, kernel * kernel) * 0.02)
        self.post = nn.Linear(channels, channels)

    def forward(self, x):
        n, h, w, c = x.shape
        q, k, values = self.pre(x).permute(0, 3, 1, 2).split([self.queries, self.queries, c], 1)
        filters = self.logits(F.gelu(self.spread(q * k)))
        filters = filters.view(n, self.heads, 1, self.kernel**2, h, w).softmax(3)
        filters = filters + self.ghost.view(1, self.heads, c // self.heads, self.kernel**2, 1, 1)
        taps = F.unfold(values, self.kernel, padding=self.kernel // 2)
        taps = taps.view(n, self.heads, c // self.heads, self.kernel**2, h, w)
        return self.post((taps * filters).sum(3).view(n, c, h, w).permute(0, 2, 3, 1))


class Pyramid(nn.Module):
    """The four stages of torchvision's Swin, [N, C, H, W] each."""

    def __init__(self, net):
        super().__init__()
        self.stages = net.features
        self.norms = nn.ModuleList(nn.LayerNorm(width) for width in WIDTHS)

    def forward(self, x):
        maps = []
        for i, stage in enumerate(self.stages):
            x = stage(x)
            if i % 2:
                maps.append(self.norms[i // 2](x).permute(0, 3, 1, 2).contiguous())
        return maps


def swin():
    return Pyramid(torchvision.models.swin_t())


def elsa_swin():
    net = torchvision.models.swin_t()
    for stage, heads in zip((1, 3, 5), (3, 6, 12)):
        for block in net.features[stage]:
            block.attn = ComposedElsa(heads * 32, heads)
    return Pyramid(net)


class WithFpn(nn.Module):
    out_channels = 256

    def __init__(self, pyramid):
        super().__init__()
        self.pyramid = pyramid
        self.fpn = FeaturePyramidNetwork(WIDTHS, self.out_channels, LastLevelMaxPool())

    def forward(self, x):
        maps = {str(i): x for i, x in enumerate(self.pyramid(x))}
        return self.fpn(maps)


class Detector(nn.Module):
    """Mask R-CNN on batches that are already resized and normalized, as in Saccade."""

    def __init__(self, pyramid):
        super().__init__()
        self.net = MaskRCNN(WithFpn(pyramid), CLASSES["detection"] + 1)

    def run(self, pixels, targets):
        sizes = [tuple(pixels.shape[-2:])] * len(pixels)
        images = ImageList(pixels, sizes)
        maps = self.net.backbone(pixels)
        proposals, rpn_losses = self.net.rpn(images, maps, targets)
        found, roi_losses = self.net.roi_heads(maps, proposals, sizes, targets)
        return found, rpn_losses | roi_losses

    def loss(self, pixels, targets):
        return sum(self.run(pixels, targets)[1].values())

    def predict(self, pixels):
        return [{name: value.cpu() for name, value in image.items()} for image in self.run(pixels, None)[0]]


def mask_rcnn(pyramid):
    return Detector(pyramid)


def block(inputs, outputs, kernel):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(True)
    )


class UperNet(nn.Module):
    """UperNet as in mmsegmentation, with the auxiliary head on the third level."""

    def __init__(self, pyramid, channels=512):
        super().__init__()
        self.pyramid = pyramid
        self.pools = nn.ModuleList(block(WIDTHS[3], channels, 1) for _ in (1, 2, 3, 6))
        self.bottleneck = block(WIDTHS[3] + 4 * channels, channels, 3)
        self.laterals = nn.ModuleList(block(width, channels, 1) for width in WIDTHS[:3])
        self.outs = nn.ModuleList(block(channels, channels, 3) for _ in range(3))
        self.fuse = block(4 * channels, channels, 3)
        self.classify = nn.Conv2d(channels, CLASSES["segmentation"], 1)
        self.auxiliary = nn.Sequential(block(WIDTHS[2], 256, 3), nn.Conv2d(256, CLASSES["segmentation"], 1))

    def logits(self, maps):
        top = maps[3]
        pooled = [top] + [
            F.interpolate(pool(F.adaptive_avg_pool2d(top, side)), top.shape[2:], mode="bilinear")
            for side, pool in zip((1, 2, 3, 6), self.pools)
        ]
        levels = [lateral(x) for lateral, x in zip(self.laterals, maps)] + [self.bottleneck(torch.cat(pooled, 1))]
        for i in (2, 1, 0):
            levels[i] = levels[i] + F.interpolate(levels[i + 1], levels[i].shape[2:], mode="bilinear")
        levels = [out(x) for out, x in zip(self.outs, levels)] + [levels[3]]
        same = [levels[0]] + [F.interpolate(x, levels[0].shape[2:], mode="bilinear") for x in levels[1:]]
        return self.classify(self.fuse(torch.cat(same, 1)))

    def loss(self, pixels, targets):
        maps = self.pyramid(pixels)
        total = 0
        for weight, logits in ((1, self.logits(maps)), (0.4, self.auxiliary(maps[2]))):
            full = F.interpolate(logits.float(), pixels.shape[2:], mode="bilinear")
            total = total + weight * F.cross_entropy(full, targets[0]["labels_of_pixels"])
        return total

    def predict(self, pixels):
        logits = self.logits(self.pyramid(pixels))
        return F.interpolate(logits, pixels.shape[2:], mode="bilinear").argmax(1).cpu()


def targets(images, size, device):
    """Random objects and labels, 20 per image."""
    height, width = size
    scale = torch.tensor([width, height, width, height], device=device)
    pixels = torch.randint(0, CLASSES["segmentation"], (images, height, width), device=device)
    result = []
    for _ in range(images):
        corner = torch.rand(OBJECTS, 2, device=device) * 0.8
        boxes = torch.cat([corner, corner + 0.05 + torch.rand(OBJECTS, 2, device=device) * 0.15], 1) * scale
        masks = torch.zeros(OBJECTS, height, width, dtype=torch.uint8, device=device)
        for mask, (x0, y0, x1, y1) in zip(masks, boxes.round().long().tolist()):
            mask[y0:y1, x0:x1] = 1
        labels = torch.randint(1, CLASSES["detection"] + 1, (OBJECTS,), device=device)
        result.append({"boxes": boxes, "labels": labels, "masks": masks, "labels_of_pixels": pixels})
    return result
