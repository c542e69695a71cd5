def keys(qkv: Tensor) -> Tuple[Tensor, Tensor]:
  window = {window}
  expand = {expand}
  reach = {reach}
  device = ops.prim.device(qkv)
  h = torch.size(qkv, 1)
  w = torch.size(qkv, 2)
  rows = torch.unsqueeze(torch.arange(h // window, dtype=3, device=device), 1)
  columns = torch.unsqueeze(torch.arange(w // window, dtype=3, device=device), 1)
  windows = torch.numel(rows) * torch.numel(columns)
  near = torch.arange(-expand, window + expand, dtype=3, device=device)
  y = torch.unsqueeze(torch.unsqueeze(rows * window + near, 1), 3)
  x = torch.unsqueeze(torch.unsqueeze(columns * window + near, 1), 0)
  token = torch.remainder(y, h) * w + torch.remainder(x, w) + 1
  wrapped = torch.logical_or(torch.ne(torch.remainder(y, h), y), torch.ne(torch.remainder(x, w), x))
  index = [torch.reshape(token, [windows, -1])]
  unseen = [torch.reshape(wrapped, [windows, -1]) * {mask_wrapped}]
  start = h * w + 1
  part = 1
  for level in range({levels}):
    around = torch.arange(-reach, reach + part, dtype=3, device=device)
    y = torch.unsqueeze(torch.unsqueeze(rows * part + around, 1), 3)
    x = torch.unsqueeze(torch.unsqueeze(columns * part + around, 1), 0)
    across = torch.numel(columns) * part
    beside = torch.logical_and(torch.ge(x, 0), torch.lt(x, across))
    above = torch.logical_and(torch.ge(y, 0), torch.lt(y, torch.numel(rows) * part))
    cell = (y * across + x + start) * torch.logical_and(above, beside)
    cells = torch.reshape(cell, [windows, -1])
    _0 = torch.append(index, cells)
    _1 = torch.append(unseen, torch.eq(cells, 0).long())
    start = start + windows * part * part
    part = part * 2
  return (torch.cat(index, 1), torch.unsqueeze(torch.cat(unseen, 1) * {unseen}, 1))

def shifted(mask: Tensor, regions: Tensor) -> Tensor:
  window = {window}
  expand = {expand}
  windows = torch.size(mask, 0)
  own = torch.reshape(regions, [windows, -1, window, window])
  fine = torch.reshape(torch.constant_pad_nd(own, [expand, expand, expand, expand]), [windows, window * window, -1])
  return torch.constant_pad_nd(fine, [0, torch.size(mask, 2) - torch.size(fine, 2)]) + mask
