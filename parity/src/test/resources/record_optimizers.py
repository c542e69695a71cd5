"""Records steps of torch.optim (made with torch 2.7.1): python record_optimizers.py fixtures"""

import json
import pathlib
import sys

import numpy as np
import torch

SHAPES = {
    "absolute_pos_embed": (1, 3, 2, 2),
    "frozen": (3,),
    "conv.weight": (4, 3, 3, 3),
    "conv.bias": (4,),
    "norm1.weight": (4,),
    "norm1.bias": (4,),
    "fc.weight": (5, 4),
}


def groups(config):
    """One group a parameter, by mmcv's custom_keys: the longest key that matches counts."""
    keys = config.get("paramwise_cfg", {}).get("custom_keys", {})
    for name in SHAPES:
        match = next((k for k in sorted(keys, key=len, reverse=True) if k in name), None)
        rule = keys.get(match, {})
        decay = config["weight_decay"] * rule.get("decay_mult", 1.0)
        yield {"params": [name], "lr_mult": rule.get("lr_mult", 1.0), "weight_decay": decay}


def record(folder, seed, config, rates, clip):
    torch.manual_seed(seed)
    values = {name: torch.nn.Parameter(torch.randn(shape)) for name, shape in SHAPES.items()}
    # Copies, for the optimiser changes values and clipping changes gradients in place.
    arrays = {"init:" + name: value.detach().numpy().copy() for name, value in values.items()}
    described = list(groups(config))
    members = [
        {"params": [values[g["params"][0]]], "weight_decay": g["weight_decay"]} for g in described
    ]
    if config["type"] == "AdamW":
        optimizer = torch.optim.AdamW(members, betas=tuple(config["betas"]))
    else:
        optimizer = torch.optim.SGD(members, lr=1, momentum=config["momentum"])
    for step, rate in enumerate(rates, start=1):
        for group, described_group in zip(optimizer.param_groups, described):
            group["lr"] = rate * described_group["lr_mult"]
        for name, value in values.items():
            if name != "frozen":
                value.grad = torch.randn(value.shape)
                arrays[f"grad{step}:{name}"] = value.grad.numpy().copy()
        if clip:
            norm = torch.nn.utils.clip_grad_norm_(values.values(), clip["max_norm"])
            arrays[f"total_norm{step}"] = norm.numpy().reshape(1)
        optimizer.step()
        for name, value in values.items():
            arrays[f"param{step}:{name}"] = value.detach().numpy().copy()
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "io.npz", **arrays)
    case = {
        "kind": "optimizer",
        "source": "torch.optim " + torch.__version__,
        "config": config,
        "lr_per_step": rates,
        "clip": clip,
        "tolerance": "1e-6 + 1e-5 rel",
        "groups": described,
    }
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


root = pathlib.Path(sys.argv[1])
keys = {"absolute_pos_embed": {"decay_mult": 0.0}, "norm": {"decay_mult": 0.0},
        "fc": {"lr_mult": 0.1}}
adamw = {"type": "AdamW", "lr": 0.01, "betas": [0.9, 0.999], "weight_decay": 0.05,
         "paramwise_cfg": {"custom_keys": keys}}
record(root / "adamw_steps", 1, adamw, [0.0025, 0.005, 0.01, 0.01, 0.001, 0.001], None)
sgd = {"type": "SGD", "lr": 0.02, "momentum": 0.9, "weight_decay": 0.0001}
record(root / "sgd_clip_steps", 2, sgd, [0.02, 0.02, 0.02, 0.002, 0.002],
       {"max_norm": 2.0, "norm_type": 2})
