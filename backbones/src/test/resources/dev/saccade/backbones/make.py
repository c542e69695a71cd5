"""Writes the .names files of this folder; see README.md."""
import mmdet.models
import timm
import torchvision


def names(model, file):
    """Writes names and shapes of a state dict, a line each."""
    with open(file, "w") as out:
        for name, tensor in model.state_dict().items():
            print(name, *tensor.shape, file=out)


names(torchvision.models.resnet50(), "resnet50.names")
names(torchvision.models.swin_t(), "swin_tiny_torchvision.names")
names(timm.create_model("swin_tiny_patch4_window7_224"), "swin_tiny_timm.names")
names(mmdet.models.SwinTransformer(), "swin_tiny_openmmlab.names")
