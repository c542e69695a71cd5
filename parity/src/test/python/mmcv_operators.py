"""Stands in for the compiled operators of mmcv with those of torchvision, so that mmdetection runs
from mmcv-lite, which has none. To be imported before mmdet."""

import sys
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec

import torch
import torchvision

COMPILED = torch.ops.torchvision


def nms(boxes, scores, iou_threshold, offset):
    assert offset == 0, "widths are x2 - x1"
    return torchvision.ops.nms(boxes, scores, iou_threshold)


def roi_align_forward(input, rois, output, argmax_y, argmax_x, *, aligned_height, aligned_width,
                      spatial_scale, sampling_ratio, pool_mode, aligned):  # fmt: skip
    assert pool_mode == 1, "averages alone"
    output.copy_(COMPILED.roi_align(
        input, rois, spatial_scale, aligned_height, aligned_width, sampling_ratio, aligned))  # fmt: skip


def roi_align_backward(grad, rois, argmax_y, argmax_x, grad_input, *, aligned_height, aligned_width,
                       spatial_scale, sampling_ratio, pool_mode, aligned):  # fmt: skip
    grad_input.copy_(COMPILED._roi_align_backward(
        grad, rois, spatial_scale, aligned_height, aligned_width, *grad_input.shape,
        sampling_ratio, aligned))  # fmt: skip


def first(maps, size):
    """What mmcv reads of maps that are larger than its output: the first numbers of each image."""
    count = maps.shape[1] * size[0] * size[1]
    return maps.flatten(1)[:, :count].reshape(len(maps), maps.shape[1], *size)


def geometry(s):
    return (s["stride_h"], s["stride_w"], s["pad_h"], s["pad_w"], s["dilation_h"], s["dilation_w"],
            s["group"], s["deformable_group"], True)  # fmt: skip


def modulated_deform_conv_forward(input, weight, bias, ones, offset, mask, output, columns, **s):
    size = output.shape[2:]
    bias = bias if s["with_bias"] else input.new_zeros(len(weight))
    output.copy_(COMPILED.deform_conv2d(
        input, weight, first(offset, size), first(mask, size), bias, *geometry(s)))  # fmt: skip


def modulated_deform_conv_backward(input, weight, bias, ones, offset, mask, columns, grad_input, grad_weight,
                                   grad_bias, grad_offset, grad_mask, grad_output, **s):  # fmt: skip
    size = grad_output.shape[2:]
    x, w, o, m, b = COMPILED._deform_conv2d_backward(
        grad_output, input, weight, first(offset, size), first(mask, size),
        bias if s["with_bias"] else input.new_zeros(len(weight)), *geometry(s))  # fmt: skip
    grad_input.copy_(x)
    grad_weight.copy_(w)
    for whole, part in ((grad_offset, o), (grad_mask, m)):
        whole.view(len(whole), -1)[:, : part[0].numel()] = part.flatten(1)
    if s["with_bias"]:
        grad_bias.copy_(b)


def missing(name):
    """Any other operator: mmcv wants them all to be there, mmdetection calls few."""
    if name.startswith("__"):
        raise AttributeError(name)

    def operator(*args, **settings):
        raise NotImplementedError(f"mmcv's operator {name} has no stand-in")

    return operator


module = module_from_spec(ModuleSpec("mmcv._ext", None))
for operator in (nms, roi_align_forward, roi_align_backward, modulated_deform_conv_forward,
                 modulated_deform_conv_backward):  # fmt: skip
    setattr(module, operator.__name__, operator)
module.__getattr__ = missing
sys.modules["mmcv._ext"] = module
