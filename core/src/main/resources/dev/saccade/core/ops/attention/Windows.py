def mask(x: Tensor) -> Tensor:
  height = {height}
  width = {width}
  h = torch.size(x, 1)
  w = torch.size(x, 2)
  y = torch.arange(h, device=ops.prim.device(x))
  row = torch.ge(y, h - height).long() + torch.ge(y, h - {shift_y}).long()
  z = torch.arange(w, device=ops.prim.device(x))
  column = torch.ge(z, w - width).long() + torch.ge(z, w - {shift_x}).long()
  region = torch.unsqueeze(row * 3, 1) + column
  cells = torch.reshape(region, [h // height, height, w // width, width])
  tokens = torch.reshape(torch.permute(cells, [0, 2, 1, 3]), [-1, 1, height * width])
  other = torch.ne(torch.unsqueeze(tokens, 2), torch.unsqueeze(tokens, 3))
  return other.float() * {unseen}
