"""Records logits of small classifiers: python record_classifiers.py . ORIGINALS

ORIGINALS has the repositories microsoft/Swin-Transformer (as swin), whai362/PVT (pvt), damo-cv/ELSA
(elsa) and microsoft/Focal-Transformer (focal); the other models are from torchvision 0.22.1 and timm
1.0.20. Weights have the names of the originals. Models run in float64.
"""

import importlib.util
import json
import pathlib
import sys
import types
from functools import partial

import numpy as np
import timm
import torch
from timm.models import registry
from torch import nn
from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet

ROOT = pathlib.Path(sys.argv[1])
ORIGINALS = pathlib.Path(sys.argv[2])
CLASSES = 5
HEADS = [1, 2, 2, 2]
HEAD = ["head.type=linear_cls", "head.norm=true"]


def load(name, file):
    """Imports a file of an original; unused parts of old timm versions are replaced."""
    layers = sys.modules["timm.layers"]
    sys.modules.setdefault("timm.models.layers", layers)
    sys.modules.setdefault("timm.models.registry", registry)
    helpers = types.ModuleType("timm.models.helpers")
    helpers.build_model_with_cfg = helpers.overlay_external_default_cfg = None
    sys.modules["timm.models.helpers"] = helpers
    transformer = sys.modules["timm.models.vision_transformer"]
    transformer._init_vit_weights = lambda *args, **kwargs: None
    transformer.checkpoint_filter_fn = None
    path = ORIGINALS / file
    places = [str(path.parent)] if path.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=places)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def elsa():
    package = types.ModuleType("originals")
    package.__path__ = []
    sys.modules["originals"] = package
    layer = types.ModuleType("originals.elsa")
    layer.__path__ = []
    sys.modules["originals.elsa"] = layer
    for extension in ("elsa_ext", "elsa_faster_ext"):  # CUDA only
        compiled = types.ModuleType(f"originals.elsa.{extension}")
        sys.modules[compiled.__name__] = compiled
        setattr(layer, extension, compiled)
    code = load("originals.elsa.elsa", "elsa/cls/models/elsa/elsa.py")
    layer.ELSABlock = code.ELSABlock
    return load("originals.elsa_swin", "elsa/cls/models/elsa_swin.py").ELSASwin


class NarrowResNet(ResNet):
    """torchvision's ResNet with fewer channels."""

    def __init__(self, block, blocks, width):
        nn.Module.__init__(self)
        self._norm_layer = nn.BatchNorm2d
        self.inplanes, self.dilation, self.groups, self.base_width = width, 1, 1, 64
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        for i, count in enumerate(blocks):
            stage = self._make_layer(block, width << i, count, stride=1 if i == 0 else 2)
            setattr(self, f"layer{i + 1}", stage)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear((width << 3) * block.expansion, CLASSES)


def models():
    """Yields name, source, model, image size and our settings."""
    swin = dict(img_size=96, window_size=3, embed_dim=8, depths=[2, 2, 1, 1], num_heads=HEADS,
                num_classes=CLASSES)
    ours = ["backbone.embed_dim=8", "backbone.depths=[2, 2, 1, 1]", "backbone.num_heads=[1, 2, 2, 2]",
            "backbone.out_indices=[3]", "backbone.output_norms=false"]
    ours_swin = ["backbone.type=swin", "backbone.window_size=3",
                 "backbone.window_order=shift_then_pad", *ours, *HEAD]
    original = load("swin_original", "swin/models/swin_transformer.py").SwinTransformer
    yield "swin", "microsoft/Swin-Transformer", original(**swin), 96, ours_swin
    yield "swin_timm", "timm 1.0.20", timm.models.swin_transformer.SwinTransformer(**swin), 96, ours_swin
    yield (
        "elsa_swin", "damo-cv/ELSA", elsa()(**swin, group_width=4, elsa_kernel=5), 96,
        ["backbone.type=elsa_swin", "backbone.window_size=3", "backbone.elsa_kernel=5",
         "backbone.group_width=4", "backbone.window_order=shift_then_pad", *ours, *HEAD])
    focal = load("focal_original", "focal/classification/focal_transformer.py").FocalTransformer
    yield (
        "focal", "microsoft/Focal-Transformer",
        focal(**swin, focal_levels=[2, 2, 2, 2], focal_windows=[5, 3, 3, 1], expand_sizes=[1, 1, 1, 1]),
        96,
        ["backbone.type=focal", "backbone.window_size=3", "backbone.image_size=[96, 96]",
         "backbone.focal_windows=[5, 3, 3, 1]", "backbone.expand_sizes=[1, 1, 1, 1]", *ours, *HEAD])
    pvt = load("pvt_original", "pvt/classification/pvt.py").PyramidVisionTransformer
    yield (
        "pvt", "whai362/PVT",
        pvt(img_size=64, patch_size=4, num_classes=CLASSES, embed_dims=[8, 8, 16, 16], num_heads=HEADS,
            mlp_ratios=[2, 2, 2, 2], qkv_bias=True, depths=[1, 1, 1, 2],
            norm_layer=partial(nn.LayerNorm, eps=1e-6)),
        64,
        ["backbone.type=pvt", "backbone.embed_dims=[8, 8, 16, 16]", "backbone.num_heads=[1, 2, 2, 2]",
         "backbone.mlp_ratios=[2, 2, 2, 2]", "backbone.depths=[1, 1, 1, 2]",
         "backbone.pretrain_img_size=64", "backbone.cls_token=true", "backbone.out_indices=[3]", *HEAD,
         "head.norm_eps=1.0e-6"])
    deit = dict(img_size=48, patch_size=16, embed_dim=24, depth=2, num_heads=3, num_classes=CLASSES)
    yield (
        "deit", "timm 1.0.20", timm.models.vision_transformer.VisionTransformer(**deit), 48,
        ["backbone.type=deit", "backbone.img_size=48", "backbone.embed_dim=24", "backbone.depth=2",
         "backbone.num_heads=3", *HEAD, "head.norm_eps=1.0e-6"])
    resnet = ["backbone.type=resnet", "backbone.out_indices=[3]", "backbone.stem_channels=6",
              "backbone.base_channels=6", "head.type=linear_cls"]
    yield (
        "resnet18", "torchvision 0.22.1", NarrowResNet(BasicBlock, [2, 2, 2, 2], 6), 64,
        [*resnet, "backbone.depth=18"])
    yield (
        "resnet50", "torchvision 0.22.1", NarrowResNet(Bottleneck, [3, 4, 6, 3], 4), 64,
        ["backbone.depth=50", *(setting.replace("=6", "=4") for setting in resnet)])


def randomize(model, generator):
    """Sets weights to multiples of 1/128, which compress well."""
    state = model.state_dict()
    for name, tensor in state.items():
        if not tensor.is_floating_point() or name.endswith("attn_mask"):
            continue
        noise = torch.randn(tensor.shape, generator=generator)
        if "running_var" in name or (tensor.ndim == 1 and name.endswith("weight")):
            value = 1 + 0.2 * noise.clamp(-2, 2)
        elif tensor.ndim == 1:
            value = 0.1 * noise
        elif "pos" in name or "token" in name or "table" in name or name.endswith("rb"):
            value = 0.5 * noise
        else:
            value = noise * (1.5 / tensor[0].numel()) ** 0.5
        state[name] = (value * 128).round() / 128
    model.load_state_dict(state)


def main():
    for seed, (name, source, model, size, settings) in enumerate(models()):
        generator = torch.Generator().manual_seed(seed)
        randomize(model, generator)
        model.double().eval()
        pixels = (torch.randn(2, 3, size, size, generator=generator) * 32).round() / 32
        with torch.no_grad():
            logits = model(pixels.double())
        arrays = {"x": pixels.numpy(), "logits": logits.float().numpy()}
        for key, value in model.state_dict().items():
            if value.is_floating_point() and not key.endswith("attn_mask"):
                arrays[f"weight:{key}"] = value.float().numpy()
        folder = ROOT / f"classifier_{name}"
        folder.mkdir(exist_ok=True)
        np.savez_compressed(folder / "io.npz", **arrays)
        case = {"kind": "classifier", "model": settings, "classes": CLASSES, "source": source, "seed": seed}
        (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
        print(name, logits.abs().max().item(), (folder / "io.npz").stat().st_size)


main()
