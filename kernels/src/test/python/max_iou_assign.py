"""Max IoU assignment, object by object, with float32 rounding."""

import numpy as np
import torch
from torchvision.ops import box_iou

from checks import Case
from timings import Timing


def composed(boxes, objects, skip, thresholds, low, all_best):
    """Object index and IoU of each box."""
    b, o = boxes.cpu().float().numpy(), objects.cpu().float().numpy()
    looked = ~skip.cpu().numpy().astype(bool) if len(skip) else np.ones(len(b), bool)
    positive, negative, least = (np.float32(t) for t in thresholds)
    most = np.where(looked, np.float32(0), np.float32(-1))
    best, taken = np.zeros(len(b), int), np.zeros(len(b), int)
    with np.errstate(all="ignore"):
        area = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
        for g, box in enumerate(o):
            w = np.minimum(b[:, 2], box[2]) - np.maximum(b[:, 0], box[0])
            h = np.minimum(b[:, 3], box[3]) - np.maximum(b[:, 1], box[1])
            shared = w * h
            whole = np.maximum((box[2] - box[0]) * (box[3] - box[1]) + area - shared, np.float32(1e-6))
            iou = np.where((w <= 0) | (h <= 0) | (shared == 0), np.float32(0), shared / whole)
            better = looked & (iou > most)
            most, best = np.where(better, iou, most), np.where(better, g, best)
            if not low or not looked.any():
                continue
            found = np.max(np.where(looked & (iou > 0), iou, np.float32(0)))
            match = looked & (found >= least) & ((iou == found) if all_best or found > 0 else True)
            places = np.flatnonzero(match)
            taken[places if all_best else places[:1]] = g + 1
    gt_inds = np.where(most >= positive, best + 1, np.where((most >= 0) & (most < negative), 0, -1))
    return torch.cat([torch.tensor(np.where(taken > 0, taken, gt_inds)).double(), torch.tensor(most).double()])


def case(n, k, thresholds, low=True, all_best=True, skipped=False, odd=False):
    def inputs(generator):
        def draw(count, side):
            # Integer coordinates produce ties; some boxes lie far away.
            corners = torch.randint(-40, 200, (count, 2), generator=generator)
            return torch.cat([corners, corners + torch.randint(1, side, (count, 2), generator=generator)], 1).double()

        boxes, objects = draw(n, 40), draw(k, 60)
        if odd:
            boxes[n // 2, 2] = boxes[n // 3, 1] = objects[k // 2, 3] = torch.nan
            objects[0] += 1000
        skip = torch.randint(2, (n if skipped else 0,), generator=generator)
        return [boxes, objects, skip]

    return Case(
        f"max_iou_assign {n} x {k} {thresholds}{' low' * low}{' all' * all_best}{' skip' * skipped}{' odd' * odd}",
        lambda b, o, s: torch.cat(
            [t.double() for t in torch.ops.saccade.max_iou_assign(b, o, s.bool(), thresholds, low, all_best)]
        ),
        lambda b, o, s: composed(b, o, s, thresholds, low, all_best),
        inputs,
        fixed=(0, 1),
        types=(torch.float32,),
    )


CASES = [
    case(1000, 7, [0.5, 0.4, 0.0]),
    case(1000, 7, [0.5, 0.4, 0.0], odd=True, skipped=True),
    case(700, 20, [0.7, 0.3, 0.3], skipped=True),
    case(700, 20, [0.5, 0.5, 0.5], low=False, odd=True),
    case(513, 9, [0.7, 0.3, 0.0], all_best=False, odd=True),
    case(513, 9, [0.7, 0.3, 0.3], all_best=False, skipped=True),
    case(1, 1, [0.5, 0.4, 0.0]),
]


def timing(n, k, faster):
    def inputs():
        def draw(count):
            corners = torch.rand(count, 2, device="cuda") * 1000
            return torch.cat([corners, corners + 10 + torch.rand(count, 2, device="cuda") * 200], 1)

        return [draw(n), draw(k), torch.zeros(0, dtype=torch.bool, device="cuda")]

    return Timing(
        f"max_iou_assign {n} x {k}",
        lambda b, o, s: torch.ops.saccade.max_iou_assign(b, o, s, [0.7, 0.3, 0.3], True, True),
        lambda b, o, s: box_iou(o, b).max(0),
        inputs,
        faster,
    )


TIMINGS = [timing(200_000, 20, 2), timing(270_000, 100, 2)]
