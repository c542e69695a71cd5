"""Masks pasted on a canvas."""

import torch
import torch.nn.functional as F

from checks import Case
from timings import Timing

THRESHOLD = 0.5


def composed(masks, boxes, height, width):
    """As mmdetection on CPUs, mask by mask."""
    out = torch.zeros(len(masks), height, width)
    for i, (mask, box) in enumerate(zip(masks.float().cpu(), boxes.float().cpu())):
        left, top = (box[:2].floor() - 1).clamp(min=0).long().tolist()
        right, bottom = box[2].ceil() + 1, box[3].ceil() + 1
        right, bottom = min(int(right), width), min(int(bottom), height)
        if left >= right or top >= bottom:
            continue
        x = (torch.arange(left, right) + 0.5 - box[0]) / (box[2] - box[0]) * 2 - 1
        y = (torch.arange(top, bottom) + 0.5 - box[1]) / (box[3] - box[1]) * 2 - 1
        x[x.isinf()] = 0
        y[y.isinf()] = 0
        grid = torch.stack([x[None].expand(len(y), -1), y[:, None].expand(-1, len(x))], 2)[None]
        out[i, top:bottom, left:right] = F.grid_sample(mask[None, None], grid, align_corners=False)[0, 0] >= THRESHOLD
    return out.double()


def case(n, h, w, height, width):
    def inputs(generator):
        masks = torch.rand(n, h, w, generator=generator, dtype=torch.float64)
        side = torch.tensor([width, height], dtype=torch.float64)
        corners = (torch.rand(n, 2, generator=generator) * 1.2 - 0.2) * side
        boxes = torch.cat([corners, corners + torch.rand(n, 2, generator=generator) * side], 1)
        boxes[0, 2:] = boxes[0, :2]
        return [masks.float().double(), boxes.float().double()]

    return Case(
        f"paste_masks {n}x{h}x{w} on {height}x{width}",
        lambda masks, boxes: torch.ops.saccade.paste_masks(masks, boxes, height, width, THRESHOLD),
        lambda masks, boxes: composed(masks, boxes, height, width),
        inputs,
        fixed=(0, 1),
        types=(torch.float32,),
    )


CASES = [case(4, 28, 28, 70, 300), case(2, 5, 9, 33, 17)]


def timing(n, side, height, width, faster):
    """Compared with grid_sample over whole images."""

    def inputs():
        corners = torch.rand(n, 2, device="cuda") * torch.tensor([width, height], device="cuda") * 0.7
        boxes = torch.cat([corners, corners + 20 + torch.rand(n, 2, device="cuda") * 200], 1)
        return [torch.rand(n, side, side, device="cuda"), boxes]

    def gridded(masks, boxes):
        x = (torch.arange(width, device="cuda") + 0.5 - boxes[:, :1]) / (boxes[:, 2:3] - boxes[:, :1]) * 2 - 1
        y = (torch.arange(height, device="cuda") + 0.5 - boxes[:, 1:2]) / (boxes[:, 3:] - boxes[:, 1:2]) * 2 - 1
        grid = torch.stack([x[:, None].expand(-1, height, -1), y[:, :, None].expand(-1, -1, width)], 3)
        return F.grid_sample(masks[:, None], grid, align_corners=False)[:, 0] >= THRESHOLD

    return Timing(
        f"paste_masks {n}x{side}x{side} on {height}x{width}",
        lambda masks, boxes: torch.ops.saccade.paste_masks(masks, boxes, height, width, THRESHOLD),
        gridded,
        inputs,
        faster,
        n * height * width,
    )


TIMINGS = [timing(100, 28, 800, 1333, 5)]
