def pack(weight: Tensor) -> Tuple[Tensor, Tensor]:
    return ops.saccade.direct_weights(torch.unsqueeze(torch.unsqueeze(weight, -1), -1), {products})


def linear(x: Tensor, weight: Tensor, scales: Tensor, bias: Tensor) -> Tensor:
    return ops.saccade.direct_linear(torch.to(x, {type}), weight, scales, bias, {gelu})
