"""RoIAlign on a pyramid, compared with torchvision's level by level."""

import torch
from torchvision.ops import roi_align

from checks import Case
from timings import Timing


def composed(rois, levels, maps, scales, output, ratio, aligned):
    rois = rois.to(maps[0].dtype)
    out = maps[0].new_zeros(rois.shape[0], maps[0].shape[1], *output)
    for level, (map, scale) in enumerate(zip(maps, scales)):
        here = (levels == level).nonzero()[:, 0]
        out = out.index_put((here,), roi_align(map, rois[here], output, scale, ratio, aligned))
    return out


def case(n, channels, sizes, regions, output, ratio, aligned, **more):
    """Maps of several sizes; the first has stride 4."""
    scales = [1 / (4 * round(sizes[0][0] / h)) for h, _ in sizes]

    def inputs(generator):
        def uniform(*shape):
            return torch.rand(shape, generator=generator, dtype=torch.float64)

        side = 4 * torch.tensor(sizes[0]).flip(0)
        corners = (uniform(regions, 2, 2) * 1.4 - 0.2) * side
        extent = (uniform(regions, 1, 2) * 4 - 3).exp() * side / 4
        boxes = torch.cat([corners[:, :1], corners[:, :1] + extent], 1).flatten(1)
        if regions > 3:
            boxes[0, 2:] = boxes[0, :2] - 3  # inverted corners
            boxes[1] = torch.tensor([-300.0, -200, 900, 700])  # far larger than the map
            boxes[2, 2:] = boxes[2, :2]  # a point
        image = torch.randint(n, (regions, 1), generator=generator)
        level = torch.randint(len(sizes), (regions,), generator=generator)
        maps = [torch.randn(n, channels, h, w, generator=generator, dtype=torch.float64) for h, w in sizes]
        return [torch.cat([image, boxes], 1).float().double(), level, *maps]

    return Case(
        f"roi_align {n}x{channels} {len(sizes)} levels {regions} -> {output} ratio {ratio}{' aligned' * aligned}",
        lambda rois, of, *maps: torch.ops.saccade.roi_align(maps, rois, of, scales, output, ratio, aligned),
        lambda rois, of, *maps: composed(rois, of, maps, scales, output, ratio, aligned),
        inputs,
        fixed=(0,),
        always=(0,),
        **more,
    )


CASES = [
    case(2, 40, [(23, 30), (12, 15), (6, 8)], 17, [7, 7], 0, True),
    case(1, 5, [(19, 11)], 9, [3, 2], 2, False, types=(torch.float32, torch.float64, torch.bfloat16)),
    case(2, 264, [(9, 12), (5, 6)], 6, [14, 14], 0, False),
    case(1, 8, [(16, 16), (8, 8)], 40, [5, 9], 3, True),
    case(3, 16, [(7, 9)], 300, [2, 2], 0, True, types=(torch.float32,)),
    case(1, 8, [(6, 6), (3, 3)], 5, [40, 3], 1, True, types=(torch.float32, torch.float64)),
    case(1, 8, [(6, 6)], 0, [7, 7], 0, True, types=(torch.float32,)),
]


def timing(n, regions, side, dtype, faster, backward=False, channels=256):
    """An 800x1344 image, compared with torchvision level by level."""
    sizes = [(200 >> level, 336 >> level) for level in range(4)]
    scales = [1 / (4 << level) for level in range(4)]

    def inputs():
        extent = (torch.rand(regions, 2, device="cuda") * 4 + 2.8).exp()
        corners = torch.rand(regions, 2, device="cuda") * (torch.tensor([1344, 800], device="cuda") - extent).clamp(min=0)
        image = torch.randint(n, (regions, 1), device="cuda")
        level = (extent.prod(1).sqrt() / 56).log2().floor().clamp(0, 3).long()
        maps = [
            torch.randn(n, channels, h, w, device="cuda", dtype=dtype)
            .contiguous(memory_format=torch.channels_last)
            .requires_grad_(backward)
            for h, w in sizes
        ]
        return [torch.cat([image, corners, corners + extent], 1), level, *maps]

    kind = str(dtype).removeprefix("torch.")
    return Timing(
        f"roi_align {n} images {regions} -> {side} {kind} {'forward and backward' if backward else 'forward'}",
        lambda rois, of, *maps: torch.ops.saccade.roi_align(maps, rois, of, scales, [side, side], 0, True),
        lambda rois, of, *maps: composed(rois, of, maps, scales, [side, side], 0, True),
        inputs,
        faster,
    )


TIMINGS = [
    timing(1, 1000, 7, torch.float32, 2),
    timing(1, 1000, 7, torch.float16, 2),
    timing(1, 100, 14, torch.float16, 1.5),
    timing(8, 4096, 7, torch.float16, 2, backward=True),
    timing(8, 1024, 14, torch.float32, 1.5, backward=True),
]
