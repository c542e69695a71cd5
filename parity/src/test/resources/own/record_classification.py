"""Records image transforms, batch augments and losses of image classifiers in Pillow 13.0.0,
torchvision 0.22.1 and timm 1.0.20: python record_classification.py . PHOTO...

Random values are recorded as draws. Pixels are BGR."""

import io
import itertools
import json
import pathlib
import random
import sys

import numpy as np
import torch
import torchvision.transforms.functional as functional
from PIL import Image
from timm.data import auto_augment, mixup, random_erasing
from timm.loss import BinaryCrossEntropy, LabelSmoothingCrossEntropy, SoftTargetCrossEntropy
from torchvision import transforms
from torchvision.transforms import InterpolationMode

ROOT = pathlib.Path(sys.argv[1])
PHOTOS = [Image.open(name).convert("RGB") for name in sys.argv[2:]]
PILLOW = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}
TORCHVISION = {"bilinear": InterpolationMode.BILINEAR, "bicubic": InterpolationMode.BICUBIC}
FILL = (124, 116, 104)


def image(k, width, height):
    """Returns a crop of an image at half its resolution."""
    photo = PHOTOS[k % len(PHOTOS)]
    left, top = photo.width // 3, photo.height // 3
    return photo.crop((left, top, left + 2 * width, top + 2 * height)).resize((width, height))


def bgr(picture):
    return np.asarray(picture)[..., ::-1]


def write(name, kind, draws, arrays, source, **settings):
    folder = ROOT / "classification" / name
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "io.npz", **arrays)
    lines = ",\n  ".join(json.dumps(draw) for draw in draws)
    head = json.dumps({"kind": kind, "source": source, **settings}, indent=1)[:-2]
    (folder / "case.json").write_text(f'{head},\n "draws": [\n  {lines}\n ]\n}}\n')


def pictures(name, kind, pictures, draws, results, source, **settings):
    arrays = {f"img{k}": bgr(picture) for k, picture in enumerate(pictures)}
    arrays.update({f"out{k}": bgr(result) for k, result in enumerate(results)})
    write(name, kind, draws, arrays, source, **settings)


def resize():
    given = [image(0, 61, 47), image(1, 96, 80)]
    sizes = [[24, 31], [80, 33], [64, 90], [47, 20], [13, 61], [5, 7], [1, 1], [96, 80]]
    draws, results = [], []
    for k, (size, mode) in enumerate(itertools.product(sizes, PILLOW)):
        draws.append({"image": k // 2 % 2, "size": size, "interpolation": mode})
        results.append(given[k // 2 % 2].resize(size[::-1], PILLOW[mode]))
    pictures("resize", "pillow_resize", given, draws, results, "Pillow 13.0.0, Image.resize")


def resized_crop():
    given = [image(2, 61, 47), image(3, 96, 80)]
    crops = [[0, 0, 47, 61], [5, 7, 20, 33], [30, 40, 17, 9], [11, 3, 36, 58], [46, 60, 1, 1]]
    draws, results = [], []
    for k, (crop, mode) in enumerate(itertools.product(crops, PILLOW)):
        size = [32, 32] if k % 4 < 2 else [40, 24]
        draws.append({"image": k % 2, "crop": crop, "size": size, "interpolation": mode})
        results.append(functional.resized_crop(given[k % 2], *crop, size, TORCHVISION[mode]))
    source = "torchvision 0.22.1, resized_crop"
    pictures("resized_crop", "resized_crop", given, draws, results, source)


def reduced_crop():
    """Decodes JPEGs at 1/2, 1/4 or 1/8 with draft, and resizes a part."""
    arrays, draws = {}, []
    for k, (photo, width, height, subsampling) in enumerate([(0, 203, 151, 2), (1, 130, 178, 0)]):
        file = io.BytesIO()
        image(photo, width, height).save(file, "JPEG", quality=80, subsampling=subsampling)
        arrays[f"jpeg{k}"] = np.frombuffer(file.getvalue(), np.uint8)
        for reduction, crop in [(2, [11, 7, 61, 70]), (2, [0, 0, height, width]),
                                (4, [31, 3, 117, 101]), (8, [1, 2, 146, 125])]:  # fmt: skip
            size = [crop[2] // reduction - 1, crop[3] // reduction]
            for mode in PILLOW:
                picture = Image.open(file)
                picture.draft("RGB", (width // reduction, height // reduction))
                top, left, rows, columns = crop
                box = [left, top, left + columns, top + rows]
                box = [value / reduction for value in box]
                arrays[f"out{len(draws)}"] = bgr(picture.resize(size[::-1], PILLOW[mode], box))
                draws.append({"image": k, "full": [height, width], "reduction": reduction,
                              "crop": crop, "size": size, "interpolation": mode})  # fmt: skip
    write("reduced_crop", "reduced_crop", draws, arrays, "Pillow 13.0.0, draft and resize")


def resize_center_crop():
    given = [image(4, 61, 47), image(5, 47, 96), image(6, 33, 33)]
    draws, results = [], []
    for scale, size, mode in [(32, [28, 28], "bicubic"), (36, [32, 31], "bilinear"),
                              (20, [33, 26], "bicubic"), (60, [23, 48], "bilinear")]:  # fmt: skip
        steps = transforms.Compose([transforms.Resize(scale, TORCHVISION[mode]),
                                    transforms.CenterCrop(size)])  # fmt: skip
        for k, picture in enumerate(given):
            draws.append({"image": k, "scale": scale, "size": size, "interpolation": mode})
            results.append(steps(picture))
    source = "torchvision 0.22.1, Resize and CenterCrop"
    pictures("resize_center_crop", "resize_center_crop", given, draws, results, source)


AFFINE = ["Rotate", "ShearX", "ShearY", "TranslateXRel", "TranslateYRel"]
PLAIN = ["AutoContrast", "Equalize", "Invert"]
SIGNED = ["ColorIncreasing", "ContrastIncreasing", "BrightnessIncreasing", "SharpnessIncreasing"]
LEVELS = ["Posterize", "PosterizeIncreasing", "PosterizeOriginal", "Solarize",
          "SolarizeIncreasing", "SolarizeAdd", "Color", "Contrast", "Brightness",
          "Sharpness"]  # fmt: skip


def posterize(picture, bits):
    """Earlier versions of Pillow return a black image for 0 bits; Pillow 13 rejects them."""
    return pillow_posterize(picture, bits) if bits else picture.point(lambda value: 0)


pillow_posterize, auto_augment.ImageOps.posterize = auto_augment.ImageOps.posterize, posterize


def operator(picture, name, magnitude, negate, mode):
    auto_augment._randomly_negate = lambda value: -value if negate else value
    hparams = {"img_mean": FILL, "interpolation": PILLOW[mode]}
    return auto_augment.AugmentOp(name, 1.0, magnitude, hparams)(picture)


def operators():
    # A flat image, a dark image with few levels and images with rows and columns of odd numbers.
    few = image(3, 37, 26).point(lambda value: value // 64 * 40 + 3)
    given = [image(0, 37, 26), image(1, 30, 33), few, Image.new("RGB", (9, 8), (7, 200, 90))]
    chosen = [(k, name, 0, False, "bicubic") for name in PLAIN for k in range(4)]
    chosen += [(i % 3, name, magnitude, False, "bicubic")
               for i, name in enumerate(LEVELS) for magnitude in (0, 2.5, 7.3, 10)]  # fmt: skip
    chosen += [(i % 2, name, magnitude, negate, "bicubic")
               for i, name in enumerate(SIGNED) for magnitude in (3, 10)
               for negate in (False, True)]  # fmt: skip
    chosen += [(i % 2, name, magnitude, negate, mode)
               for i, name in enumerate(AFFINE) for magnitude in (1.7, 9) for mode in PILLOW
               for negate in (False, True)]  # fmt: skip
    chosen += [(0, name, 0, False, "bicubic") for name in AFFINE]
    draws, results = [], []
    for k, name, magnitude, negate, mode in chosen:
        draws.append({"image": k, "operator": name, "magnitude": magnitude, "negate": negate,
                      "interpolation": mode})  # fmt: skip
        results.append(operator(given[k], name, magnitude, negate, mode))
    source = "timm 1.0.20, AugmentOp"
    pictures("operators", "augment_operator", given, draws, results, source, fill=FILL)


def color_jitter():
    given = [image(2, 31, 22), image(6, 24, 30)]
    adjust = {"brightness": functional.adjust_brightness, "contrast": functional.adjust_contrast,
              "saturation": functional.adjust_saturation}  # fmt: skip
    values = random.Random(1)
    draws, results = [], []
    for k, order in enumerate(itertools.permutations(adjust)):
        factors = {name: values.uniform(0.2, 1.8) for name in order}
        picture = given[k % 2]
        for name in order:
            picture = adjust[name](picture, factors[name])
        draws.append({"image": k % 2, "order": order, **factors})
        results.append(picture)
    source = "torchvision 0.22.1, adjust_brightness, adjust_contrast, adjust_saturation"
    pictures("color_jitter", "color_jitter", given, draws, results, source)


def mixed():
    """Mixes batches in the modes batch and pair."""
    classes = 7
    batch = torch.randn(4, 3, 13, 18, generator=torch.manual_seed(2))
    labels = torch.tensor([3, 0, 6, 3])
    arrays, draws = {"batch": batch.numpy(), "labels": labels.numpy()}, []
    numbers = np.random.default_rng(3)
    for k, (cutmix, pairs) in enumerate(
        itertools.product([False, True, True], [False, True]), start=0
    ):
        given = [float(value) for value in numbers.uniform(0.05, 0.95, 2)]
        centers = [[int(numbers.integers(13)), int(numbers.integers(18))] for _ in range(2)]
        used = iter(sum(centers, []))
        mixup.np.random.randint = lambda low, high, size=None: np.int64(next(used))
        mode = mixup.Mixup(mode="pair" if pairs else "batch", label_smoothing=0, num_classes=classes)
        mode._params_per_batch = lambda: (given[0], cutmix)
        mode._params_per_elem = lambda size: (np.array(given, np.float64), np.full(size, cutmix))
        pixels, target = mode(batch.clone(), labels)
        arrays[f"out{k}"], arrays[f"target{k}"] = pixels.numpy(), target.numpy()
        draws.append({"cutmix": cutmix, "fractions": given if pairs else given[:1] * 2,
                      "centers": centers if pairs else centers[:1] * 2})  # fmt: skip
    write("mixup_cutmix", "mixup_cutmix", draws, arrays, "timm 1.0.20, Mixup", num_classes=classes)


def erasing():
    batch = torch.randn(2, 3, 17, 22, generator=torch.manual_seed(4))
    arrays, draws = {"batch": batch.numpy()}, []
    for k in range(4):
        random_erasing.random.seed(k)
        erase = random_erasing.RandomErasing(1, max_count=k, mode="const", device="cpu")
        pixels = erase(batch.clone())
        patches = []
        random_erasing.random.seed(k)
        # The same random values once more, for an image of positions.
        spy = random_erasing.RandomErasing(1, max_count=k, mode="const", device="cpu")

        class Spy:
            def __init__(self, number):
                self.number = number

            def __setitem__(self, index, value):
                _, rows, columns = index
                patches.append([self.number, rows.start, columns.start,
                                rows.stop - rows.start, columns.stop - columns.start])  # fmt: skip

        for number in range(2):
            spy._erase(Spy(number), 3, 17, 22, torch.float32)
        arrays[f"out{k}"] = pixels.numpy()
        draws.append({"patches": patches})
    write("pixel_erasing", "pixel_erasing", draws, arrays, "timm 1.0.20, RandomErasing, mode const")


def losses():
    logits = 3 * torch.randn(6, 9, generator=torch.manual_seed(5))
    labels = torch.tensor([0, 8, 3, 3, 5, 1])
    hard = torch.nn.functional.one_hot(labels, 9).float()
    soft = mixup.mixup_target(labels, 9, 0.3, 0.0)
    smooth = mixup.mixup_target(labels, 9, 0.3, 0.1)
    arrays, draws = {"logits": logits.numpy(), "hard": hard.numpy(), "soft": soft.numpy()}, []

    def record(loss, target, targets, kind, **settings):
        prediction = logits.clone().requires_grad_()
        value = loss(prediction, target)
        value.backward()
        k = len(draws)
        arrays[f"value{k}"] = value.detach().reshape(1).numpy()
        arrays[f"grad{k}"] = prediction.grad.numpy()
        draws.append({"loss": kind, "targets": targets, **settings})

    record(SoftTargetCrossEntropy(), hard, "hard", "soft")
    record(SoftTargetCrossEntropy(), soft, "soft", "soft")
    record(SoftTargetCrossEntropy(), smooth, "soft", "soft", smoothing=0.1)
    record(LabelSmoothingCrossEntropy(0.1), labels, "hard", "soft", smoothing=0.1)
    record(BinaryCrossEntropy(0.0), soft, "soft", "binary")
    record(BinaryCrossEntropy(0.1), labels, "hard", "binary", smoothing=0.1)
    record(BinaryCrossEntropy(0.0, target_threshold=0.2), soft, "soft", "binary", threshold=0.2)
    record(BinaryCrossEntropy(0.0, 0.2, sum_classes=True), smooth, "soft", "binary",
           smoothing=0.1, threshold=0.2, sum_classes=True)  # fmt: skip
    record(BinaryCrossEntropy(0.1, sum_classes=True), labels, "hard", "binary",
           smoothing=0.1, sum_classes=True)  # fmt: skip
    write("losses", "image_losses", draws, arrays, "timm 1.0.20, losses")


resize()
resized_crop()
reduced_crop()
resize_center_crop()
operators()
color_jitter()
mixed()
erasing()
losses()
