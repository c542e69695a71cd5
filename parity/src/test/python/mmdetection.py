"""Training in mmdetection, as our configs describe it."""

import json
import time
from pathlib import Path

import torch

import mmcv_operators  # noqa: F401, before mmdet
import mmdet
from mmdet.registry import MODELS
from mmdet.utils import register_all_modules
from mmengine.config import Config
from mmengine.hooks import Hook
from mmengine.runner import Runner, load_checkpoint, set_random_seed

CONFIGS = Path(mmdet.__file__).parent / ".mim/configs"
ALL = 1_000_000  # more samples than there are candidates


def narrow(part, classes):
    """Gives parts of ResNet-50 the widths of ResNet-18, a quarter of theirs, and their classes."""
    if isinstance(part, list):
        for each in part:
            narrow(each, classes)
    elif isinstance(part, dict):
        for key, value in part.items():
            if key == "num_classes":
                part[key] = classes
            elif key.endswith("channels"):
                part[key] = [n // 4 for n in value] if isinstance(value, list) else value // 4
            else:
                narrow(value, classes)


def model(kind, classes, all_samples=False):
    """The config of mmdetection that a kind names, as narrow as ours and learned from nothing."""
    config = Config.fromfile(CONFIGS / kind.mmdetection)
    config.merge_from_dict(kind.changes)
    narrow(config.model, classes)
    config.model.backbone.update(
        depth=18, frozen_stages=-1, norm_eval=False, zero_init_residual=False, init_cfg=None)  # fmt: skip
    stages = config.model.train_cfg.get("rcnn", [])
    for stage in [config.model.train_cfg.get("rpn"), *(stages if isinstance(stages, list) else [stages])]:
        if all_samples and stage:
            stage.sampler.num = ALL
    return config


def initialize(kind, classes, seed, file):
    """Saves the weights that mmdetection begins with."""
    register_all_modules()
    set_random_seed(seed)
    made = MODELS.build(model(kind, classes).model)
    made.init_weights()
    torch.save({"state_dict": made.state_dict(), "meta": {}}, file)


def dataloader(loader, recipe, data, annotations, classes, flip):
    """Changes one of mmdetection's loaders to the data of a recipe."""
    loader.update(num_workers=1, persistent_workers=True)
    loader.dataset.update(
        data_root=str(data),
        ann_file=str(annotations),
        data_prefix={"img": "images/"},
        metainfo={"classes": classes},
    )
    steps = loader.dataset.pipeline
    next(step for step in steps if step.type == "Resize").scale = tuple(recipe["data"]["image_size"])
    loader.dataset.pipeline = [step for step in steps if flip or step.type != "RandomFlip"]


def schedule(recipe, steps):
    """Our warm-up multiplies the schedule, and is 1 at the step that it names."""
    warmup = recipe["schedule"]["warmup"]
    rise = dict(type="LinearLR", start_factor=warmup["ratio"], end=warmup["iterations"] + 1)
    return [dict(rise, by_epoch=False), dict(type="CosineAnnealingLR", T_max=steps, by_epoch=False)]


class Steps(Hook):
    """Begins with given weights, and writes a line for every step, as metrics.jsonl of Saccade has."""

    priority = "VERY_LOW"

    def __init__(self, weights, file):
        self.weights, self.file = weights, file

    def before_train(self, runner):
        load_checkpoint(runner.model, str(self.weights), strict=True)
        self.last = time.perf_counter()

    def before_train_iter(self, runner, batch_idx, data_batch=None):
        self.learning_rate = runner.optim_wrapper.get_lr()["lr"][0]

    def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
        now = time.perf_counter()
        losses = {name: float(value) for name, value in outputs.items()}
        line = {
            "event": "step",
            "iteration": runner.iter + 1,
            "learning_rate": self.learning_rate,
            "loss": losses.pop("loss"),
            "losses": losses,
            "gradient_norm": runner.message_hub.get_scalar("train/grad_norm").current(),
            "seconds": now - self.last,
        }
        with self.file.open("a") as out:
            print(json.dumps(line), file=out)
        self.last = now


def train(kind, recipe, seed, weights, data, run, steps, annotations, plain, classes):
    """Trains, and writes detections in COCO's results format to found.*.json, unless steps are given."""
    register_all_modules()
    config = model(kind, len(classes), plain)
    batch = config.train_dataloader.batch_size = recipe["data"]["batch_size"]
    dataloader(config.train_dataloader, recipe, data, annotations, classes, flip=not plain)
    dataloader(config.test_dataloader, recipe, data, "annotations_val.json", classes, flip=False)
    images = len(json.loads((data / annotations).read_text())["images"])
    all_steps = steps or recipe["epochs"] * -(-images // batch)
    optimizer = recipe["optimizer"]
    assert optimizer["type"] == "adamw" and recipe["schedule"]["type"] == "cosine"
    config.train_dataloader.sampler = dict(type="InfiniteSampler")
    config.optim_wrapper = dict(
        type="OptimWrapper",
        optimizer=dict(type="AdamW", lr=optimizer["learning_rate"], weight_decay=optimizer["weight_decay"]),
        clip_grad=dict(max_norm=recipe["max_gradient_norm"]),
    )
    config.param_scheduler = schedule(recipe, all_steps)
    config.train_cfg = dict(type="IterBasedTrainLoop", max_iters=all_steps)
    config.val_cfg = config.val_dataloader = config.val_evaluator = None
    config.default_hooks = dict(checkpoint=None)
    config.randomness = dict(seed=seed)
    config.work_dir = str(run)
    config.test_evaluator.update(
        ann_file=str(data / "annotations_val.json"), format_only=True, outfile_prefix=str(run / "found"))  # fmt: skip
    runner = Runner.from_cfg(config)
    runner.register_hook(Steps(weights, run / "metrics.jsonl"))
    runner.train()
    if not steps:
        runner.test()
