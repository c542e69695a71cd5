"""Greedy NMS with float32 rounding."""

import numpy as np
import torch
from torchvision.ops import batched_nms

from checks import Case
from timings import Timing

MANY = torch.finfo(torch.float32).min


def greedy(boxes, scores, groups, threshold, least, most):
    """Kept positions of each image, padded with 0, and their number."""
    images, rows, classes = scores.shape
    rows_of = []
    for n in range(images):
        b, s = boxes[n].cpu().float().numpy(), scores[n].cpu().float().numpy().reshape(-1)
        pairs = np.flatnonzero(s > np.float32(least))
        g = (groups.cpu().numpy()[:, None] * classes + np.arange(classes)).reshape(-1)[pairs]
        kept = [pairs[i] for i in one(b[pairs if len(b) == len(s) else pairs // classes], s[pairs], g, threshold)]
        kept = kept[:most]
        rows_of.append(kept + [0] * (most - len(kept)) + [len(kept)])
    return torch.tensor(np.array(rows_of)).double()


def one(b, s, g, threshold):
    if len(b) == 0:
        return []
    threshold = np.float32(threshold)
    with np.errstate(all="ignore"):
        b = b + (g.astype(np.float32) * (max(b.max(), np.float32(0)) + np.float32(1)))[:, None]
        order = np.lexsort((np.arange(len(s)), -s))
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
    return keep


def fused(boxes, scores, groups, threshold, least, most):
    flat = scores.flatten(1)
    flat = torch.where(flat > least, flat, -torch.inf)
    order = torch.sort(flat, stable=True, dim=1, descending=True)[1]
    return torch.ops.saccade.nms(boxes, scores, groups, order, threshold, least, most)


def case(images, rows, classes, groups, threshold, least=MANY, most=0, low=0.0, per_class=False, ties=False):
    most = most or rows * classes

    def inputs(generator):
        def uniform(*shape):
            return torch.rand(shape, generator=generator, dtype=torch.float64)

        count = rows * classes if per_class else rows
        corners = uniform(images, count, 2) * 100 + low
        boxes = torch.cat([corners, corners + uniform(images, count, 2) * 40], 2)
        scores = uniform(images, rows, classes)
        scores = (scores * 8).floor() if ties else scores
        if rows > 5:
            scores[0, 3] = torch.nan
            boxes[0, 5, 2:] = boxes[0, 5, :2]
        group = torch.randint(groups, (rows,), generator=generator)
        return [boxes.float().double(), scores.float().double(), group]

    def found(b, s, g):
        keep, counts = fused(b, s, g, threshold, least, most)
        return torch.cat([keep, counts[:, None]], 1)

    return Case(
        f"nms {images}x{rows}x{classes} {groups} groups over {threshold}, {most} at most"
        f"{' ties' * ties}{' below 0' * (low < 0)}{' each' * per_class}",
        found,
        lambda b, s, g: greedy(b, s, g, threshold, least, most),
        inputs,
        fixed=(0, 1),
        types=(torch.float32,),
    )


CASES = [
    case(2, 700, 1, 1, 0.5),
    case(1, 900, 1, 5, 0.7, ties=True),
    case(2, 900, 1, 5, 0.7, most=100),
    case(2, 60, 8, 1, 0.3, least=0.4, most=50),
    case(1, 60, 8, 2, 0.3, least=0.4, per_class=True),
    case(1, 257, 1, 3, 0.5, low=-60.0),
    case(1, 64, 1, 64, 0.5, most=64),
    case(1, 1, 1, 1, 0.5),
    case(1, 0, 3, 1, 0.5),
]


def timing(rows, classes, least, most, faster):
    def inputs():
        corners = torch.rand(1, rows, 2, device="cuda") * 1000
        boxes = torch.cat([corners, corners + torch.rand(1, rows, 2, device="cuda") * 200], 2)
        scores = torch.rand(1, rows, classes, device="cuda") ** 8
        return [boxes, scores, torch.zeros(rows, dtype=torch.int64, device="cuda")]

    def theirs(b, s, g):
        row, label = torch.nonzero(s[0] > least, as_tuple=True)
        return batched_nms(b[0, row], s[0, row, label], label, 0.5)[:most]

    return Timing(
        f"nms {rows} boxes {classes} classes, {most} at most",
        lambda b, s, g: fused(b, s, g, 0.5, least, most),
        theirs,
        inputs,
        faster,
    )


TIMINGS = [timing(8000, 1, MANY, 1000, 1), timing(1000, 80, 0.05, 100, 1), timing(5000, 80, 0.3, 100, 1)]
