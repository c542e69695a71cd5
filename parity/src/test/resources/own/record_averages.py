"""Records averaged models of mmengine 0.10.7, mmdetection 3.3.0 and PyTorch: python record_averages.py ."""

import importlib.util
import json
import pathlib
import sys

import mmengine
import numpy as np
import torch
from mmengine.model import ExponentialMovingAverage, StochasticWeightAverage
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

ROOT = pathlib.Path(sys.argv[1])
STEPS = 7


def exp_momentum_ema():
    """Of mmdetection, the file alone: the package asks for mmcv."""
    package = pathlib.Path(importlib.util.find_spec("mmdet").origin).parent
    spec = importlib.util.spec_from_file_location("ema", package / "models/layers/ema.py")
    sys.modules.update({"mmdet": mmengine, "mmdet.registry": mmengine.registry})
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ExpMomentumEMA


KINDS = {
    "ExpMomentumEMA": exp_momentum_ema(),
    "ExponentialMovingAverage": ExponentialMovingAverage,
    "StochasticWeightAverage": StochasticWeightAverage,
}


def averaged(config, model):
    settings = dict(config)
    kind = settings.pop("type")
    if kind == "torch_ema":
        return AveragedModel(
            model, multi_avg_fn=get_ema_multi_avg_fn(settings["decay"]), use_buffers=settings["use_buffers"]
        )
    return KINDS[kind](model, **settings)


def record(name, configs, seed):
    torch.manual_seed(seed)
    model = torch.nn.Sequential()
    model.add_module("conv", torch.nn.Conv2d(2, 3, 3))
    model.add_module("bn", torch.nn.BatchNorm2d(3))
    model.add_module("head", torch.nn.Conv2d(3, 2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    arrays = {}

    def keep(prefix, module):
        for key, value in module.state_dict().items():
            arrays[f"{prefix}:{key}"] = value.detach().clone().numpy()

    keep("init", model)
    averages = [averaged(config, model) for config in configs]
    for step in range(1, STEPS + 1):
        optimizer.zero_grad()
        model(torch.randn(2, 2, 5, 6) + step).square().mean().backward()
        optimizer.step()
        keep(f"src{step}", model)
        for k, average in enumerate(averages):
            average.update_parameters(model)
            keep(f"ema{k}_{step}", average.module)
    folder = ROOT / name
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "io.npz", **arrays)
    source = "mmengine 0.10.7, mmdet 3.3.0, torch 2.7.1"
    case = {"kind": "ema", "source": source, "config": configs, "steps": STEPS, "seed": seed}
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


record(
    "ema_intervals",
    [
        {"type": "ExpMomentumEMA", "momentum": 0.01, "gamma": 3, "interval": 2, "update_buffers": False},
        {"type": "ExpMomentumEMA", "momentum": 0.3},
        {"type": "ExponentialMovingAverage", "momentum": 0.3, "interval": 3, "update_buffers": True},
        {"type": "StochasticWeightAverage", "interval": 2, "update_buffers": True},
        {"type": "torch_ema", "decay": 0.4, "use_buffers": True},
    ],
    11,
)
