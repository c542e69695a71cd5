def is_channels_last(x: Tensor) -> Tensor:
    if torch.is_contiguous(x, memory_format=2):
        last = torch.ones([1], dtype=11)
    else:
        last = torch.zeros([1], dtype=11)
    return last
