"""Records learning rates, optimizer steps and first losses of timm 1.0.20: python record_timm_training.py ."""

import copy
import json
import pathlib
import sys

import numpy as np
import torch
from timm.loss import BinaryCrossEntropy, SoftTargetCrossEntropy
from timm.models.swin_transformer import SwinTransformer
from timm.optim import Lamb, create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from torch import nn

ROOT = pathlib.Path(sys.argv[1]) / "classification"


def write(name, case, arrays):
    folder = ROOT / name
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "io.npz", **arrays)
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


def schedules():
    items, arrays = [], {}
    for k, (base, epochs, per_epoch, warmup, start, least, cooldown, prefix) in enumerate([
        (1e-3, 300, 1251, 20, 1e-6, 1e-5, 0, False),
        (1e-3, 300, 1251, 20, 1e-6, 1e-5, 0, True),
        (5e-4, 30, 17, 5, 5e-7, 5e-6, 3, False),
        (5e-4, 30, 17, 5, 5e-7, 5e-6, 3, True),
        (8e-3, 10, 7, 0, 0.0, 0.0, 0, False),
        (8e-3, 4, 7, 6, 1e-4, 1e-6, 0, False),
    ]):  # fmt: skip
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=base)
        decayed = (epochs - cooldown - (warmup if prefix else 0)) * per_epoch
        schedule = CosineLRScheduler(
            optimizer, t_initial=decayed, lr_min=least, warmup_t=warmup * per_epoch,
            warmup_lr_init=start, warmup_prefix=prefix, t_in_epochs=False)  # fmt: skip
        last = epochs * per_epoch - 1
        steps = sorted({*range(12), warmup * per_epoch - 1, warmup * per_epoch, decayed - 1,
                        decayed, *range(0, last, max(1, last // 40)), last})  # fmt: skip
        steps = [step for step in steps if 0 <= step <= last]
        rates = [optimizer.param_groups[0]["lr"]]
        for step in steps[1:]:
            schedule.step_update(step)
            rates.append(optimizer.param_groups[0]["lr"])
        arrays[f"iters{k}"], arrays[f"lr{k}"] = np.int64(steps), np.float64(rates)
        hook = {"policy": "timm_cosine", "warmup_epochs": warmup, "warmup_lr": start,
                "min_lr": least, "cooldown_epochs": cooldown, "warmup_prefix": prefix}  # fmt: skip
        items.append({"base_lr": base, "max_epochs": epochs, "iters_per_epoch": per_epoch,
                      "hook": hook})  # fmt: skip
    case = {"kind": "lr_schedule", "source": "timm 1.0.20, CosineLRScheduler", "items": items}
    write("timm_cosine", case, arrays)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.LayerNorm(4)
        self.fc = nn.Linear(4, 5)
        self.zero = nn.Linear(3, 2, bias=False)
        for value in self.parameters():
            nn.init.normal_(value)
        nn.init.zeros_(self.zero.weight)


def lamb(name, scale, **settings):
    """Records ten steps; gradients above and below the limit of the norm."""
    torch.manual_seed(1)
    net = Net()
    values = dict(net.named_parameters())
    config = {"type": "Lamb", "lr": 0.01, "weight_decay": 0.05, **settings}
    plain = {key: value for key, value in config.items() if key not in ("type", "weight_decay")}
    groups = [
        {"params": [value for value in values.values() if value.ndim > 1], "weight_decay": 0.05},
        {"params": [value for value in values.values() if value.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = Lamb(groups, **{**plain, "max_grad_norm": plain.get("max_grad_norm") or None})
    rates = [0.001 * (step + 1) for step in range(10)]
    arrays = {"init:" + key: value.detach().numpy().copy() for key, value in values.items()}
    for step, rate in enumerate(rates, start=1):
        for group in optimizer.param_groups:
            group["lr"] = rate
        for key, value in values.items():
            value.grad = scale * step * torch.randn(value.shape)
            arrays[f"grad{step}:{key}"] = value.grad.numpy().copy()
        optimizer.step()
        for key, value in values.items():
            arrays[f"param{step}:{key}"] = value.detach().numpy().copy()
    names = {id(value): key for key, value in values.items()}
    described = [{"params": [names[id(value)] for value in group["params"]], "lr_mult": 1.0,
                  "weight_decay": group["weight_decay"]} for group in groups]  # fmt: skip
    paramwise = {"norm_decay_mult": 0.0, "bias_decay_mult": 0.0}
    case = {"kind": "optimizer", "source": "timm 1.0.20, Lamb",
            "config": {**config, "paramwise_cfg": paramwise}, "lr_per_step": rates,
            "tolerance": "1e-6 + 1e-5 rel", "groups": described}  # fmt: skip
    write(name, case, arrays)


IMAGES, CLASSES, SIDE, STEPS = 4, 5, 96, 10


def pixels(step):
    """Returns images that Java computes as well."""
    n, c, y, x = np.meshgrid(*map(np.arange, (IMAGES, 3, SIDE, SIDE)), indexing="ij")
    values = np.sin(0.9 * n + 1.7 * c + 0.31 * y + 0.23 * x * (1 + n) + step)
    return torch.from_numpy(values.astype(np.float32))


def official_name(name):
    """Returns the name of a parameter in the checkpoints of Swin's authors."""
    parts = name.split(".")
    if parts[:1] == ["head"]:
        return "head." + parts[-1]
    if parts[2:3] == ["downsample"]:
        parts[1] = str(int(parts[1]) - 1)
    return name if parts[0] == "norm" else "backbone." + ".".join(parts)


def first_steps():
    settings = {"embed_dim": 4, "depths": [2, 1, 1, 2], "num_heads": [1, 1, 2, 2]}
    torch.manual_seed(6)
    start = SwinTransformer(img_size=SIDE, window_size=2, num_classes=CLASSES, drop_path_rate=0,
                            **settings)  # fmt: skip
    for value in start.parameters():
        nn.init.normal_(value, std=0.2) if value.ndim > 1 else value.data.add_(0.1)
    arrays = {"init:" + official_name(name): value.detach().numpy().copy()
              for name, value in start.named_parameters()}  # fmt: skip
    fractions = np.random.default_rng(7).dirichlet(np.full(CLASSES, 0.3), (STEPS, IMAGES))
    arrays["targets"] = fractions.astype(np.float32)
    runs = [
        {"optimizer": "adamw", "learning_rate": 5e-3, "weight_decay": 0.05, "loss": "soft",
         "max_norm": 5.0},
        {"optimizer": "lamb", "learning_rate": 2e-2, "weight_decay": 0.02, "loss": "binary",
         "max_norm": 0.0},
    ]  # fmt: skip
    hook = {"warmup_epochs": 3, "warmup_lr": 1e-4, "min_lr": 1e-5, "cooldown_epochs": 1,
            "warmup_prefix": False}  # fmt: skip
    for k, run in enumerate(runs):
        model = copy.deepcopy(start).train()
        optimizer = create_optimizer_v2(
            model, run["optimizer"], lr=run["learning_rate"], weight_decay=run["weight_decay"])  # fmt: skip
        schedule = CosineLRScheduler(
            optimizer, t_initial=STEPS - 1, lr_min=hook["min_lr"], warmup_t=hook["warmup_epochs"],
            warmup_lr_init=hook["warmup_lr"], t_in_epochs=False)  # fmt: skip
        loss = SoftTargetCrossEntropy() if run["loss"] == "soft" else BinaryCrossEntropy(0.0)
        losses = []
        for step in range(STEPS):
            value = loss(model(pixels(step)), torch.from_numpy(arrays["targets"][step]))
            optimizer.zero_grad()
            value.backward()
            if run["max_norm"]:
                nn.utils.clip_grad_norm_(model.parameters(), run["max_norm"])
            optimizer.step()
            schedule.step_update(step + 1)
            losses.append(value.item())
        print(run["optimizer"], losses)
        arrays[f"losses{k}"] = np.float64(losses)
    case = {"kind": "first_steps", "source": "timm 1.0.20, SwinTransformer", "side": SIDE,
            "window_size": 2, **settings, "schedule": hook, "runs": runs}  # fmt: skip
    write("first_steps", case, arrays)


schedules()
lamb("lamb_steps", 0.02, max_grad_norm=1.0)
lamb("lamb_always_adapt", 1.0, max_grad_norm=0.0, always_adapt=True)
first_steps()
