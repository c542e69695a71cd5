"""Targets of a mask head."""

import torch
import torch.nn.functional as F
from torchvision.ops import roi_align

from checks import Case
from timings import Timing


def composed(masks, sizes, boxes, index, side):
    """Resizes each region separately."""
    cut = []
    for box, i in zip(boxes, index.tolist()):
        h, w = sizes[i].tolist()
        bitmap = masks[i, :h, :w].to(boxes.dtype)
        corners = torch.stack([box[k].clamp(0, (w, h)[k % 2]) for k in range(4)])
        cut.append(roi_align(bitmap[None, None], [corners[None]], (side, side), 1.0, 0, True)[0, 0])
    return torch.stack(cut) >= 0.5


def composed_at_once(masks, boxes, index, side):
    """Regions of contiguous bitmaps."""
    rois = torch.cat([index[:, None], boxes], 1)
    return roi_align(masks[:, None].to(boxes.dtype), rois, (side, side), 1.0, 0, True)[:, 0] >= 0.5


def case(n, h, w, regions, side):
    def inputs(generator):
        masks = F.interpolate(torch.rand(n, 1, 3, 4, generator=generator), (h, w), mode="bilinear")[:, 0] > 0.5
        corners = (torch.rand(regions, 2, generator=generator) * 1.1 - 0.2) * torch.tensor([w, h])
        boxes = torch.cat([corners, corners + torch.rand(regions, 2, generator=generator) * torch.tensor([w, h])], 1)
        least = torch.tensor([(h + 1) // 2, (w + 1) // 2])
        sizes = least + (torch.rand(n, 2, generator=generator) * (torch.tensor([h, w]) - least + 1)).long()
        return [masks.to(torch.uint8), sizes, boxes.double(), torch.randint(n, (regions,), generator=generator)]

    return Case(
        f"mask_targets {n}x{h}x{w} {regions} -> {side}",
        lambda *inputs: torch.ops.saccade.mask_targets(*inputs, side),
        lambda *inputs: composed(*inputs, side).double(),
        inputs,
        fixed=(2,),
        types=(torch.float32,),
    )


CASES = [case(3, 50, 61, 20, 28), case(1, 9, 8, 5, 3)]


def timing(n, h, w, regions, side, faster):
    def inputs():
        corners = torch.rand(regions, 2, device="cuda") * torch.tensor([w, h], device="cuda") * 0.7
        boxes = torch.cat([corners, corners + 10 + torch.rand(regions, 2, device="cuda") * 200], 1)
        masks = (torch.rand(n, h, w, device="cuda") > 0.5).byte()
        sizes = torch.tensor([[h, w]], device="cuda").expand(n, 2)
        return [masks, sizes, boxes, torch.randint(n, (regions,), device="cuda")]

    return Timing(
        f"mask_targets {n}x{h}x{w} {regions} -> {side}",
        lambda *inputs: torch.ops.saccade.mask_targets(*inputs, side),
        lambda masks, sizes, boxes, index: composed_at_once(masks, boxes, index, side),
        inputs,
        faster,
    )


TIMINGS = [timing(20, 800, 1333, 128, 28, 2)]
