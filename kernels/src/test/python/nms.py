"""Greedy suppression of boxes, one at a time, every number rounded to float32."""

import numpy as np
import torch
from torchvision.ops import batched_nms

from checks import Case
from timings import Timing


def greedy(boxes, scores, groups, threshold):
    b, s, g = boxes.cpu().float().numpy(), scores.cpu().float().numpy(), groups.cpu().numpy()
    if len(b) == 0:
        return torch.empty(0)
    threshold = np.float32(threshold)
    with np.errstate(all="ignore"):
        b = b + (g.astype(np.float32) * (max(b.max(), np.float32(0)) + np.float32(1)))[:, None]
        order = np.lexsort((np.arange(len(s)), np.where(np.isnan(s), -np.inf, -s)))
        keep, left = [], np.ones(len(b), bool)
        area = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
        for i in order:
            if not left[i]:
                continue
            keep.append(i)
            w = np.minimum(b[:, 2], b[i, 2]) - np.maximum(b[:, 0], b[i, 0])
            h = np.minimum(b[:, 3], b[i, 3]) - np.maximum(b[:, 1], b[i, 1])
            shared = np.maximum(w, np.float32(0)) * np.maximum(h, np.float32(0))
            left &= ~(shared > np.maximum(threshold * (area[i] + area - shared), np.float32(0)))
    return torch.tensor(np.array(keep)).double()


def case(n, groups, threshold, low=0.0, ties=False, **more):
    def inputs(generator):
        def uniform(*shape):
            return torch.rand(shape, generator=generator, dtype=torch.float64)

        corners = uniform(n, 2) * 100 + low
        boxes = torch.cat([corners, corners + uniform(n, 2) * 40], 1)
        scores = (uniform(n) * 8).floor() if ties else uniform(n)
        if n > 5:
            scores[3] = torch.nan
            boxes[5, 2:] = boxes[5, :2]
        return [boxes.float().double(), scores.float().double(), torch.randint(groups, (n,), generator=generator)]

    return Case(
        f"nms {n} boxes {groups} groups over {threshold}{' ties' * ties}{' below 0' * (low < 0)}",
        lambda b, s, g: torch.ops.saccade.nms(b, s, g, threshold),
        lambda b, s, g: greedy(b, s, g, threshold),
        inputs,
        fixed=(0, 1),
        types=(torch.float32,),
        **more,
    )


CASES = [
    case(700, 1, 0.5),
    case(900, 5, 0.7, ties=True),
    case(400, 80, 0.3),
    case(257, 3, 0.5, low=-60.0),
    case(64, 64, 0.5),
    case(1, 1, 0.5),
    case(0, 1, 0.5),
]


def timing(n, groups, faster):
    def inputs():
        corners = torch.rand(n, 2, device="cuda") * 1000
        boxes = torch.cat([corners, corners + torch.rand(n, 2, device="cuda") * 200], 1)
        return [boxes, torch.rand(n, device="cuda"), torch.randint(groups, (n,), device="cuda")]

    return Timing(
        f"nms {n} boxes {groups} groups",
        lambda b, s, g: torch.ops.saccade.nms(b, s, g, 0.5),
        lambda b, s, g: batched_nms(b, s, g, 0.5),
        inputs,
        faster,
    )


TIMINGS = [timing(1000, 80, 1), timing(5000, 1, 1.5), timing(8000, 5, 1.5), timing(30000, 80, 1)]
