"""Targets of a mask head."""

import torch
import torch.nn.functional as F
from torchvision.ops import roi_align

from checks import Case
from timings import Timing


def composed(masks, boxes, index, side):
    cut = torch.stack([boxes[:, i].clamp(0, masks.shape[2 - i % 2]) for i in range(4)], 1)
    rois = torch.cat([index[:, None], cut], 1)
    return roi_align(masks[:, None].to(boxes.dtype), rois, (side, side), 1.0, 0, True)[:, 0] >= 0.5


def case(n, h, w, regions, side):
    def inputs(generator):
        masks = F.interpolate(torch.rand(n, 1, 3, 4, generator=generator), (h, w), mode="bilinear")[:, 0] > 0.5
        corners = (torch.rand(regions, 2, generator=generator) * 1.1 - 0.2) * torch.tensor([w, h])
        boxes = torch.cat([corners, corners + torch.rand(regions, 2, generator=generator) * torch.tensor([w, h])], 1)
        return [masks.to(torch.uint8), boxes.double(), torch.randint(n, (regions,), generator=generator)]

    return Case(
        f"mask_targets {n}x{h}x{w} {regions} -> {side}",
        lambda masks, boxes, index: torch.ops.saccade.mask_targets(masks, boxes, index, side),
        lambda masks, boxes, index: composed(masks, boxes, index, side).double(),
        inputs,
        fixed=(1,),
        types=(torch.float32,),
    )


CASES = [case(3, 50, 61, 20, 28), case(1, 9, 8, 5, 3)]


def timing(n, h, w, regions, side, faster):
    def inputs():
        corners = torch.rand(regions, 2, device="cuda") * torch.tensor([w, h], device="cuda") * 0.7
        boxes = torch.cat([corners, corners + 10 + torch.rand(regions, 2, device="cuda") * 200], 1)
        masks = (torch.rand(n, h, w, device="cuda") > 0.5).byte()
        return [masks, boxes, torch.randint(n, (regions,), device="cuda")]

    return Timing(
        f"mask_targets {n}x{h}x{w} {regions} -> {side}",
        lambda masks, boxes, index: torch.ops.saccade.mask_targets(masks, boxes, index, side),
        lambda masks, boxes, index: composed(masks, boxes, index, side),
        inputs,
        faster,
    )


TIMINGS = [timing(20, 800, 1333, 128, 28, 2)]
