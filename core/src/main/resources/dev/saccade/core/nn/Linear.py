def linear_gelu(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
  # In inference, oneDNN fuses the activation.
  maps = x
  if torch.dim(x) != 4:
    maps = torch.reshape(x, [1, 1, -1, torch.size(x, -1)])
  rows = torch.to(torch.permute(maps, [0, 3, 1, 2]), {type})
  kernel = torch.to(torch.unsqueeze(torch.unsqueeze(w, -1), -1), {type})
  none = annotate(List[Optional[number]], [])
  y = ops.mkldnn._convolution_pointwise(rows, kernel, torch.to(b, {type}), [0, 0], [1, 1], [1, 1], 1, "gelu", none, "none")
  out = torch.permute(y, [0, 2, 3, 1])
  if torch.dim(x) != 4:
    out = torch.reshape(out, torch.slice(torch.size(x), 0, -1) + [torch.size(w, 0)])
  return out
