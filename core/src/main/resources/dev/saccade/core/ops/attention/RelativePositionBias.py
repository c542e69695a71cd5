def within(table: Tensor) -> Tensor:
  height = {height}
  width = {width}
  center = {center}
  y = torch.arange(height, device=ops.prim.device(table))
  x = torch.arange(width, device=ops.prim.device(table))
  dy = torch.unsqueeze(y, 1) - y + center
  dx = torch.unsqueeze(x, 1) - x + center
  rows = torch.reshape(dy * {side}, [height, 1, height, 1]) + torch.reshape(dx, [1, width, 1, width])
  bias = torch.index_select(table, 0, torch.reshape(rows, [-1]))
  tokens = height * width
  return torch.permute(torch.reshape(bias, [tokens, tokens, -1]), [2, 0, 1])

def pairs(table: Tensor) -> Tensor:
  side = {side}
  keys = {keys}
  queries = side - keys + 1
  grid = torch.reshape(table, [-1, side, side])
  pairs = torch.unfold(torch.unfold(grid, 1, keys, 1), 2, keys, 1)
  size = torch.slice(torch.size(table), 0, -1) + [queries * queries, keys * keys]
  return torch.reshape(torch.flip(pairs, {reversed}), size)
