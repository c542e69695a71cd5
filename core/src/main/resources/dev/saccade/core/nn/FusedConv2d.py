def pack_onednn(weight: Tensor) -> Tensor:
    return ops.mkldnn._reorder_convolution_weight(
        torch.to(weight, {type}), {padding}, {stride}, {dilation}, {groups})


def pack_winograd(weight: Tensor) -> Tensor:
    return ops.saccade.winograd_weights(weight, {products})


def pack_direct(weight: Tensor) -> Tuple[Tensor, Tensor]:
    return ops.saccade.direct_weights(weight, {products})


def onednn(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    map = torch.contiguous(torch.to(x, {type}), memory_format=2)
    return ops.mkldnn._convolution_pointwise(
        map, weight, torch.to(bias, {type}), {padding}, {stride}, {dilation}, {groups},
        {activation}, annotate(List[Optional[number]], []), "")


def onednn_add(x: Tensor, weight: Tensor, bias: Tensor, residual: Tensor) -> Tensor:
    map = torch.contiguous(torch.to(x, {type}), memory_format=2)
    other = torch.contiguous(torch.to(residual, {type}), memory_format=2)
    return ops.mkldnn._convolution_pointwise(
        map, other, weight, torch.to(bias, {type}), {padding}, {stride}, {dilation}, {groups},
        "add", None, {activation}, annotate(List[Optional[number]], []), "")


def winograd(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return ops.saccade.winograd_conv2d(
        torch.to(x, {type}), weight, bias, None, {out}, {padding}, {relu})


def winograd_add(x: Tensor, weight: Tensor, bias: Tensor, residual: Tensor) -> Tensor:
    return ops.saccade.winograd_conv2d(
        torch.to(x, {type}), weight, bias, torch.to(residual, {type}), {out}, {padding}, {relu})


def direct(x: Tensor, weight: Tensor, scales: Tensor, bias: Tensor) -> Tensor:
    return ops.saccade.direct_conv2d(
        torch.to(x, {type}), weight, scales, bias, None, {kernel}, {stride}, {padding}, {dilation},
        {relu})


def direct_add(x: Tensor, weight: Tensor, scales: Tensor, bias: Tensor, residual: Tensor) -> Tensor:
    return ops.saccade.direct_conv2d(
        torch.to(x, {type}), weight, scales, bias, torch.to(residual, {type}), {kernel}, {stride},
        {padding}, {dilation}, {relu})
