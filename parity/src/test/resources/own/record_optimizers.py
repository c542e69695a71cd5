"""Records steps of torch.optim with the groups of mmengine (made with torch 2.7.1 and mmengine
0.10.7): python record_optimizers.py .
"""

import json
import pathlib
import sys

import numpy as np
import torch
from mmengine.optim import build_optim_wrapper
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.absolute_pos_embed = nn.Parameter(torch.randn(1, 3, 2, 2))
        self.frozen = nn.Parameter(torch.randn(3))
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm1 = nn.BatchNorm2d(4)
        self.norm2 = nn.LayerNorm(4)
        self.fc = nn.Linear(4, 5)
        self.attn = nn.Module()
        self.attn.proj = nn.Linear(4, 4)
        self.attn.relative_position_bias_table = nn.Parameter(torch.randn(9, 2))
        for value in self.parameters():
            nn.init.normal_(value)


def record(folder, seed, config, rates, clip):
    torch.manual_seed(seed)
    net = Net()
    values = dict(net.named_parameters())
    paramwise = config.get("paramwise_cfg", {})
    optimizer = {key: value for key, value in config.items() if key != "paramwise_cfg"}
    wrapper = {"type": "OptimWrapper", "optimizer": optimizer, "paramwise_cfg": paramwise}
    optimizer = build_optim_wrapper(net, wrapper).optimizer
    names = {id(value): name for name, value in values.items()}
    groups = [
        {
            "params": [names[id(value)] for value in group["params"]],
            "lr_mult": group["lr"] / config["lr"],
            "weight_decay": group["weight_decay"],
        }
        for group in optimizer.param_groups
    ]
    # Copies, for the optimizer changes values and clipping changes gradients in place.
    arrays = {"init:" + name: value.detach().numpy().copy() for name, value in values.items()}
    for step, rate in enumerate(rates, start=1):
        for group, described in zip(optimizer.param_groups, groups):
            group["lr"] = rate * described["lr_mult"]
        for name, value in values.items():
            if name != "frozen":
                value.grad = torch.randn(value.shape)
                arrays[f"grad{step}:{name}"] = value.grad.numpy().copy()
        if clip:
            norm = nn.utils.clip_grad_norm_(values.values(), clip["max_norm"])
            arrays[f"total_norm{step}"] = norm.numpy().reshape(1)
        optimizer.step()
        for name, value in values.items():
            arrays[f"param{step}:{name}"] = value.detach().numpy().copy()
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "io.npz", **arrays)
    case = {
        "kind": "optimizer",
        "source": f"torch.optim {torch.__version__}, mmengine",
        "config": config,
        "lr_per_step": rates,
        "clip": clip,
        "tolerance": "1e-6 + 1e-5 rel",
        "groups": groups,
    }
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


ROOT = pathlib.Path(sys.argv[1])
ADAMW = {"type": "AdamW", "lr": 0.01, "betas": [0.9, 0.999], "weight_decay": 0.05}
SGD = {"type": "SGD", "lr": 0.02, "momentum": 0.9, "weight_decay": 0.0001}
RATES = [0.0025, 0.01, 0.01, 0.001]

swin = {"absolute_pos_embed": {"decay_mult": 0.0}, "norm": {"decay_mult": 0.0},
        "fc": {"lr_mult": 0.1}}
record(ROOT / "adamw_steps", 1, {**ADAMW, "paramwise_cfg": {"custom_keys": swin}}, RATES, None)
record(ROOT / "sgd_clip_steps", 2, SGD, RATES, {"max_norm": 2.0, "norm_type": 2})

# Biases of normalizations decay as biases do: norm_decay_mult is not given.
caffe = {"bias_lr_mult": 2.0, "bias_decay_mult": 0.0}
record(ROOT / "sgd_biases", 3, {**SGD, "weight_decay": 0.05, "paramwise_cfg": caffe}, RATES, None)
# The longest key wins over norm_decay_mult, bias_lr_mult and bias_decay_mult.
every = {
    "norm_decay_mult": 0.5,
    "bias_lr_mult": 3.0,
    "bias_decay_mult": 0.25,
    "custom_keys": {
        "norm2": {"decay_mult": 0.0},
        "attn": {"lr_mult": 0.1},
        "attn.proj.bias": {"lr_mult": 0.5, "decay_mult": 2.0},
        "absolute_pos_embed": {"decay_mult": 0.0},
    },
}
record(ROOT / "adamw_norms_and_biases", 4, {**ADAMW, "paramwise_cfg": every}, RATES, None)
