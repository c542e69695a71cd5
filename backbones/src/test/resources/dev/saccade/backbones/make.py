"""Writes the .names files of this folder; see README.md."""
import re

import mmdet.models
import safetensors
import timm
import torchvision
import transformers


def names(model, file, rename=lambda name: name):
    """Writes names and shapes of a state dict, a line each."""
    with open(file, "w") as out:
        for name, tensor in model.state_dict().items():
            if rename(name):
                print(rename(name), *tensor.shape, file=out)


def detectron2(name):
    """Returns detectron2's name of a tensor of torchvision's ResNet."""
    if "num_batches" in name:
        return None
    found = re.match(r"layer(\d)(.*)", name)
    if not found:
        return "stem." + name if not name.startswith("bn1") else "stem.conv1.norm" + name[3:]
    rest = found[2].replace("downsample.0", "shortcut").replace("downsample.1", "shortcut.norm")
    return f"res{int(found[1]) + 1}" + re.sub(r"bn(\d)", r"conv\1.norm", rest)


def caffe2(name):
    """Returns Detectron's name, in Caffe2, of a tensor of torchvision's ResNet."""
    if "num_batches" in name:
        return None
    name = re.sub(r"^layer(\d)\.", lambda found: f"res{int(found[1]) + 1}_", name)
    name = re.sub(r"^fc", "fc1000", re.sub(r"^bn1", "res_conv1_bn", name))
    for theirs, ours in (("branch1", "downsample.0"), ("branch1_bn", "downsample.1")):
        name = name.replace("." + ours, "_" + theirs)
    for number, letter in enumerate("abc", 1):
        name = name.replace(f".conv{number}", f"_branch2{letter}")
        name = name.replace(f".bn{number}", f"_branch2{letter}_bn")
    for theirs, ours in (("rm", "running_mean"), ("riv", "running_var"), ("b", "bias")):
        name = name.replace("." + ours, "_" + theirs)
    return re.sub(r"\.weight$", "_s" if "_bn" in name else "_w", name)


names(torchvision.models.resnet50(), "resnet50.names")
names(torchvision.models.swin_t(), "swin_tiny_torchvision.names")
names(timm.create_model("swin_tiny_patch4_window7_224"), "swin_tiny_timm.names")
names(mmdet.models.SwinTransformer(), "swin_tiny_openmmlab.names")
names(transformers.SwinForImageClassification(transformers.SwinConfig()), "swin_tiny_huggingface_modules.names")
names(torchvision.models.resnet50(), "resnet50_detectron2.names", detectron2)
names(torchvision.models.resnet50(), "resnet50_caffe2.names", caffe2)
for config, model, file in (
    (transformers.SwinConfig(), transformers.SwinForImageClassification, "swin_tiny"),
    (transformers.ResNetConfig(), transformers.ResNetForImageClassification, "resnet50"),
):
    model(config).save_pretrained(file)
    with safetensors.safe_open(file + "/model.safetensors", "pt") as weights, open(file + "_huggingface.names", "w") as out:
        for name in weights.keys():
            print(name, *weights.get_slice(name).get_shape(), file=out)
