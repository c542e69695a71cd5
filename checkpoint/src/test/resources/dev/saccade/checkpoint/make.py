"""Writes the .pth files of this folder; see README.md."""
import argparse
import collections
import os
import pickle

import numpy
import torch


class Shell:
    """What a hostile file is made of: unpickling it in Python would run a command."""

    def __reduce__(self):
        return os.system, ("true",)


def small():
    """Two named weights whose values count up."""
    return collections.OrderedDict(
        [
            ("module.conv1.weight", torch.arange(24.0).reshape(2, 3, 2, 2)),
            ("module.bn1.num_batches_tracked", torch.tensor(7)),
        ]
    )


def training():
    """What mmdetection and timm save beside the weights."""
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    return {
        "meta": {
            "epoch": 12,
            "CLASSES": ("red blood cell", 'a "quoted" one'),
            "time": "noon",
            "lr": 0.5,
            "score": numpy.float64(0.25),
            "args": argparse.Namespace(depth=50),
        },
        "state_dict": small(),
        "optimizer": optimizer.state_dict(),
        "amp": {"loss_scaler0": {"loss_scale": 65536.0}},
        "state_dict_ema": collections.OrderedDict([("conv1.weight", torch.ones(1))]),
    }


def kinds():
    """Every element type, and every way in which a tensor can lie in its storage."""
    base = torch.arange(24.0)
    types = {
        str(t).split(".")[1]: torch.tensor([0, 1, 2, 100]).to(t)
        for t in (
            torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64,
            torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool,
        )
    }
    return {
        **types,
        "halves": torch.tensor(
            [0.0, -0.0, 1.5, -2.25, 65504.0, 6e-8, 6.1e-5, float("inf"), float("-inf")]
        ).half(),
        "scalar": torch.tensor(3.5),
        "empty": torch.zeros(0, 4),
        "view": base[4:10].reshape(2, 3),
        "shared": base[6:8],
        "transposed": base.reshape(4, 6).t(),
        "channels_last": base.reshape(1, 2, 3, 4).contiguous(
            memory_format=torch.channels_last
        ),
        "strided": base[1::3],
        "parameter": torch.nn.Parameter(torch.ones(2)),
    }


torch.manual_seed(0)
torch.save(training(), "training_zip.pth")
torch.save(training(), "training_legacy.pth", _use_new_zipfile_serialization=False)
torch.save(kinds(), "kinds_zip.pth")
torch.save(kinds(), "kinds_legacy.pth", _use_new_zipfile_serialization=False)
torch.save({"model": small()}, "protocol4.pth", pickle_protocol=4)
torch.save({"state_dict": small(), "x": Shell()}, "shell_zip.pth")
torch.save({"x": Shell()}, "shell_legacy.pth", _use_new_zipfile_serialization=False)
torch.save(torch.nn.Linear(2, 2), "module.pth")
torch.save({"x": torch.ones(1).expand(1000)}, "expanded.pth")
torch.jit.save(torch.jit.script(torch.nn.Linear(1, 1)), "torchscript.pt")


def others(path):
    """Files of other libraries."""
    weights = {"stem.conv1.weight": numpy.arange(6, dtype=numpy.float32).reshape(2, 3)}
    weights["columns"] = numpy.asfortranarray(weights["stem.conv1.weight"])
    weights["names"] = numpy.array(["a", "b"])
    for protocol in (2, 4, 5):
        with open(f"{path}/numpy{protocol}.pkl", "wb") as file:
            content = {"model": weights, "__author__": "third_party", "matching_heuristics": True}
            pickle.dump(content, file, protocol=protocol)
    one, two = {"fc.weight": torch.ones(2)}, {"fc.weight": torch.zeros(2)}
    names = {"classes": ("cat", "dog"), "palette": [(1, 2, 3), (4, 5, 6)]}
    meta = {"epoch": 3, "dataset_meta": names}
    torch.save({"meta": meta, "state_dict_ema": two, "state_dict": one}, f"{path}/classes.pth")
    torch.save({"student": two, "teacher": one, "names": {0: "cat", 1: "dog"}}, f"{path}/teacher.pth")
    torch.save({"loss": torch.ones(()), "net": {"module._orig_mod.fc.weight": torch.ones(2), "module._orig_mod.fc.bias": torch.ones(2)}}, f"{path}/net.pth")


others(".")
