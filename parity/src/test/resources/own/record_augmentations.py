"""Records augmentations of mmdetection 3.3.0, torchvision and albumentations with their random values:
PYTHONPATH=../../python python record_augmentations.py .

mmdetection's Mosaic, MixUp and RandomAffine support only boxes. Masks and label maps are recorded as
images that the same code transforms with the same random values and nearest-neighbor interpolation."""

import copy
import functools
import json
import pathlib
import sys

import albumentations
import cv2
import mmcv_operators  # noqa: F401, before mmdet
import numpy as np
import torch
import torchvision.transforms.functional as torchvision_functional
from mmdet.datasets.transforms import transforms as mmdet_transforms
from mmdet.structures.bbox import HorizontalBoxes
from mmdet.structures.mask import BitmapMasks

ROOT = pathlib.Path(sys.argv[1])
IGNORED = 255


class Numbers:
    """Stands in for numpy.random: records random values, or returns recorded ones."""

    def __init__(self, seed=None, recorded=()):
        self.random = np.random.default_rng(seed)
        self.recorded = list(recorded)
        self.values = []

    def next(self, value):
        self.values.append(self.recorded.pop(0) if self.recorded else value)
        return self.values[-1]

    def uniform(self, low, high):
        return self.next(float(self.random.uniform(low, high)))

    def randint(self, low, high):
        return self.next(int(self.random.integers(low, high)))


class Nearest:
    """Stands in for mmcv and cv2 inside mmdetection, with nearest-neighbor interpolation."""

    def __init__(self, border):
        self.imresize = functools.partial(mmdet_mmcv.imresize, interpolation="nearest")
        self.border = border

    def warpPerspective(self, image, matrix, dsize, borderValue):
        return cv2.warpPerspective(image, matrix, dsize, flags=cv2.INTER_NEAREST,
                                   borderValue=self.border)  # fmt: skip


mmdet_mmcv = mmdet_transforms.mmcv


def run(transform, results, numbers, nearest=None):
    mmdet_transforms.random = numbers
    mmdet_transforms.mmcv = nearest or mmdet_mmcv
    mmdet_transforms.cv2 = nearest or cv2
    return transform.transform(copy.deepcopy(results))


def image(height, width, seed):
    random = np.random.default_rng(seed)
    coarse = random.integers(0, 256, (height // 6, width // 6, 3), dtype=np.uint8)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)


def sample(height, width, seed):
    """Three objects and an ignored region, with masks, and a label map of five classes."""
    random = np.random.default_rng(seed)
    masks, boxes = [], []
    for i in range(4):
        center = (int(random.integers(0, width)), int(random.integers(0, height)))
        radii = (int(random.integers(6, width // 3)), int(random.integers(6, height // 3)))
        mask = np.zeros((height, width), np.uint8)
        cv2.ellipse(mask, center, radii, int(random.integers(180)), 0, 360, 1, -1)
        ys, xs = np.nonzero(mask)
        masks.append(mask)
        boxes.append([xs.min(), ys.min(), xs.max() + 1, ys.max() + 1])
    boxes = np.float32(boxes) + np.float32(random.uniform(-0.4, 0.4, (4, 4)))
    boxes = np.clip(boxes, 0, [width, height, width, height]).astype(np.float32)
    seg = random.integers(0, 5, (height // 8, width // 8), dtype=np.uint8)
    seg = cv2.resize(seg, (width, height), interpolation=cv2.INTER_NEAREST)
    seg[: height // 8] = IGNORED
    return {"img": image(height, width, seed), "boxes": boxes, "masks": np.stack(masks[:3]),
            "seg": seg, "labels": random.integers(0, 9, 3)}  # fmt: skip


def results(given):
    return {"img": given["img"], "img_shape": given["img"].shape[:2],
            "gt_bboxes": HorizontalBoxes(torch.from_numpy(given["boxes"].copy())),
            "gt_bboxes_labels": np.append(given["labels"], -1),
            "gt_ignore_flags": np.array([False, False, False, True])}  # fmt: skip


def gray(given, picture):
    """Returns a sample whose image is a mask or label map."""
    return {**results(given), "img": np.repeat(picture[..., None], 3, 2)}


def put_sample(arrays, k, given):
    arrays[f"img{k}"] = given["img"]
    arrays[f"boxes{k}"] = given["boxes"][:3]
    arrays[f"ignored{k}"] = given["boxes"][3:]
    arrays[f"labels{k}"] = given["labels"].astype(np.int64)
    arrays[f"masks{k}"] = np.packbits(given["masks"].astype(bool))
    arrays[f"seg{k}"] = given["seg"]


def put_boxes(arrays, k, after):
    ignored = after["gt_ignore_flags"]
    boxes = after["gt_bboxes"].tensor.numpy()
    arrays[f"out{k}_img"] = after["img"]
    arrays[f"out{k}_boxes"] = boxes[~ignored]
    arrays[f"out{k}_ignored"] = boxes[ignored]
    arrays[f"out{k}_labels"] = after["gt_bboxes_labels"][~ignored].astype(np.int64)


def put_masks(arrays, k, masks):
    arrays[f"out{k}_masks_shape"] = np.int64(np.shape(masks))
    arrays[f"out{k}_masks"] = np.packbits(np.asarray(masks).astype(bool))


def write(name, draws, arrays, source, **settings):
    folder = ROOT / "augmentations" / name
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "io.npz", **arrays)
    case = {"kind": name, **settings, "draws": draws, "source": source}
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


def mosaic():
    samples = [sample(48, 64, 1), sample(80, 50, 2), sample(40, 48, 3), sample(30, 70, 4)]
    scale = (48, 40)
    arrays, draws = {}, []
    for k, given in enumerate(samples):
        put_sample(arrays, k, given)
    for k in range(4):
        numbers = Numbers(k)
        make = functools.partial(mmdet_transforms.Mosaic, img_scale=scale, prob=1.0)
        all_results = [results(given) for given in samples]
        after = run(make(), {**all_results[0], "mix_results": all_results[1:]}, numbers)
        put_boxes(arrays, k, after)

        def moved(pictures, pad):
            whole = [gray(given, picture) for given, picture in zip(samples, pictures)]
            first = {**whole[0], "mix_results": whole[1:]}
            again = Numbers(recorded=numbers.values)
            return run(make(pad_val=pad), first, again, Nearest(pad))["img"][..., 0]

        masks = []
        for i, given in enumerate(samples):
            for mask in given["masks"]:
                pictures = [np.zeros_like(other["seg"]) for other in samples]
                pictures[i] = mask
                masks.append(moved(pictures, 0))
        put_masks(arrays, k, masks)
        arrays[f"out{k}_seg"] = moved([given["seg"] for given in samples], IGNORED)
        _, x, y = numbers.values
        draws.append({"center": [int(x * scale[0]), int(y * scale[1])]})
    write("mosaic", draws, arrays, "mmdet 3.3.0, Mosaic", img_scale=scale)


def mixup():
    samples = [sample(48, 64, 5), sample(60, 40, 6)]
    scale = (56, 48)
    arrays, draws = {}, []
    for k, given in enumerate(samples):
        put_sample(arrays, k, given)
    for k in range(4):
        numbers = Numbers(k)
        make = functools.partial(mmdet_transforms.MixUp, img_scale=scale)
        first, other = (results(given) for given in samples)
        after = run(make(), {**first, "mix_results": [other]}, numbers)
        put_boxes(arrays, k, after)
        masks = list(samples[0]["masks"])
        for mask in samples[1]["masks"]:
            nothing = gray(samples[0], np.zeros_like(samples[0]["seg"]))
            # The mean of 0 and 2 is 1.
            both = {**nothing, "mix_results": [gray(samples[1], 2 * mask)]}
            again = Numbers(recorded=numbers.values)
            masks.append(run(make(pad_val=0), both, again, Nearest(0))["img"][..., 0])
        put_masks(arrays, k, masks)
        ratio, flip, *offsets = numbers.values
        frame = [int(scale[1] * ratio), int(scale[0] * ratio)]
        top = offsets.pop(0) if frame[0] > 48 else 0
        left = offsets.pop(0) if frame[1] > 64 else 0
        draws.append({"ratio": ratio, "flip": flip > 0.5, "left": left, "top": top})
    write("mixup", draws, arrays, "mmdet 3.3.0, MixUp", img_scale=scale)


def random_affine():
    given = sample(48, 64, 7)
    arrays, draws = {}, []
    put_sample(arrays, 0, given)
    for k, border in enumerate([[0, 0], [-8, -4], [5, 9], [0, 0]]):
        numbers = Numbers(k)
        make = functools.partial(
            mmdet_transforms.RandomAffine, border=border, max_rotate_degree=40, max_shear_degree=10)  # fmt: skip
        after = run(make(border_val=(10, 120, 200)), results(given), numbers)
        put_boxes(arrays, k, after)

        def moved(picture, pad):
            again = Numbers(recorded=numbers.values)
            return run(make(), gray(given, picture), again, Nearest((pad,) * 3))["img"][..., 0]

        put_masks(arrays, k, [moved(mask, 0) for mask in given["masks"]])
        arrays[f"out{k}_seg"] = moved(given["seg"], IGNORED)
        draws.append({"border": border, "values": numbers.values})
    write("random_affine", draws, arrays, "mmdet 3.3.0, RandomAffine", border_val=[10, 120, 200])


def random_erasing():
    given = sample(48, 64, 8)
    arrays, draws = {}, []
    put_sample(arrays, 0, given)
    for k, settings in enumerate([{"ratio": (0.1, 0.5)}, {"ratio": (0.3, 0.7), "squared": False}]):
        np.random.seed(k)
        erasing = mmdet_transforms.RandomErasing(
            n_patches=(2, 4), bbox_erased_thr=0.4, img_border_value=(20, 128, 250), **settings)  # fmt: skip
        patches = erasing._get_patches((48, 64))
        erasing._get_patches = lambda shape, patches=patches: patches
        before = {**results(given), "gt_seg_map": given["seg"]}
        after = erasing.transform(copy.deepcopy(before))
        put_boxes(arrays, k, after)
        both = copy.deepcopy(before)
        for key in ("gt_bboxes", "gt_bboxes_labels", "gt_ignore_flags"):
            both[key] = both[key][:3]
        both["gt_masks"] = BitmapMasks(given["masks"].copy(), 48, 64)
        after = erasing.transform(both)
        put_masks(arrays, k, after["gt_masks"].masks)
        arrays[f"out{k}_seg"] = after["gt_seg_map"]
        erased = torch.from_numpy(given["img"].copy()).permute(2, 0, 1)
        for x1, y1, x2, y2 in patches.tolist():
            color = torch.tensor([20, 128, 250], dtype=torch.uint8)[:, None, None]
            erased = torchvision_functional.erase(erased, y1, x1, y2 - y1, x2 - x1, color)
        assert (erased.permute(1, 2, 0).numpy() == after["img"]).all(), "torchvision differs"
        draws.append({"patches": patches.tolist()})
    write("random_erasing", draws, arrays, "mmdet 3.3.0, RandomErasing; torchvision's erase is equal",
          bbox_erased_thr=0.4, img_border_value=[20, 128, 250])  # fmt: skip


def gaussian_blur():
    picture = image(48, 64, 9)
    arrays, draws = {"img": picture}, []
    for k, (kernel, sigma) in enumerate([(3, 0.4), (5, 0.9), (9, 1.7), (23, 2.0)]):
        planes = torch.from_numpy(picture).permute(2, 0, 1)
        blurred = torchvision_functional.gaussian_blur(planes, [kernel, kernel], [sigma, sigma])
        arrays[f"torchvision{k}"] = blurred.permute(1, 2, 0).numpy()
        blur = albumentations.GaussianBlur(
            blur_limit=(kernel, kernel), sigma_limit=(sigma, sigma), p=1)  # fmt: skip
        arrays[f"albumentations{k}"] = blur(image=picture)["image"]
        draws.append({"kernel_size": kernel, "sigma": sigma})
    write("gaussian_blur", draws, arrays, "torchvision 0.22.1 and albumentations 2.0.8")


def random_rotate90():
    given = sample(48, 64, 10)
    arrays, draws = {}, []
    put_sample(arrays, 0, given)
    for k in range(4):
        rotation = albumentations.RandomRotate90(p=1)
        rotation.get_params = lambda k=k: {"factor": k}
        boxes = albumentations.BboxParams(format="pascal_voc", label_fields=["numbers"])
        rotate = albumentations.Compose([rotation], bbox_params=boxes)
        after = rotate(image=given["img"], masks=[*given["masks"], given["seg"]],
                       bboxes=given["boxes"], numbers=np.append(given["labels"], -1))  # fmt: skip
        *masks, arrays[f"out{k}_seg"] = after["masks"]
        put_masks(arrays, k, masks)
        moved = np.float32(after["bboxes"])
        arrays[f"out{k}_img"] = after["image"]
        arrays[f"out{k}_boxes"], arrays[f"out{k}_ignored"] = moved[:3], moved[3:]
        arrays[f"out{k}_labels"] = np.int64(after["numbers"])[:3]
        draws.append({"turns": k})
    write("random_rotate90", draws, arrays, "albumentations 2.0.8, RandomRotate90")


mosaic()
mixup()
random_affine()
random_erasing()
gaussian_blur()
random_rotate90()
