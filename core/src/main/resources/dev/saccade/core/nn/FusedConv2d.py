def pack(weight: Tensor) -> Tensor:
    return ops.mkldnn._reorder_convolution_weight(
        torch.to(weight, {type}), {padding}, {stride}, {dilation}, {groups})


def convolution(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    map = torch.contiguous(torch.to(x, {type}), memory_format=2)
    return ops.mkldnn._convolution_pointwise(
        map, weight, torch.to(bias, {type}), {padding}, {stride}, {dilation}, {groups},
        {activation}, annotate(List[Optional[number]], []), "")


def convolution_add(x: Tensor, weight: Tensor, bias: Tensor, residual: Tensor) -> Tensor:
    map = torch.contiguous(torch.to(x, {type}), memory_format=2)
    other = torch.contiguous(torch.to(residual, {type}), memory_format=2)
    return ops.mkldnn._convolution_pointwise(
        map, other, weight, torch.to(bias, {type}), {padding}, {stride}, {dilation}, {groups},
        "add", None, {activation}, annotate(List[Optional[number]], []), "")


def winograd(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return ops.saccade.winograd_conv2d(torch.to(x, {type}), weight, bias, None, {out}, {padding}, {relu})


def winograd_add(x: Tensor, weight: Tensor, bias: Tensor, residual: Tensor) -> Tensor:
    return ops.saccade.winograd_conv2d(
        torch.to(x, {type}), weight, bias, torch.to(residual, {type}), {out}, {padding}, {relu})
