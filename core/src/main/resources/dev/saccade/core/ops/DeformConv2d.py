def portable(input: Tensor, offset: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
  # The four cells of each sample are a bag; cells outside the map have weight 0.
  n, c, h, w, = torch.size(input)
  out, depth, kh, kw, = torch.size(weight)
  _0, moves, rows, columns, = torch.size(offset)
  parts = torch.floordiv(moves, 2 * kh * kw)
  groups = torch.floordiv(c, depth)
  kind = offset.dtype
  on = offset.device
  moved = torch.reshape(offset, [n, parts, kh, kw, 2, rows, columns])
  down = torch.reshape(torch.arange(kh, dtype=kind, device=on), [kh, 1, 1, 1]) * {dilation_y}
  down = down + torch.reshape(torch.arange(rows, dtype=kind, device=on), [rows, 1]) * {stride_y} - {padding_y}
  across = torch.reshape(torch.arange(kw, dtype=kind, device=on), [kw, 1, 1]) * {dilation_x}
  across = across + torch.arange(columns, dtype=kind, device=on) * {stride_x} - {padding_x}
  y = torch.add(torch.select(moved, 4, 0), down)
  x = torch.add(torch.select(moved, 4, 1), across)
  top = torch.floor(y)
  left = torch.floor(x)
  below = torch.sub(y, top)
  right = torch.sub(x, left)
  y = torch.stack([top, torch.add(top, 1)], -1)
  x = torch.stack([left, torch.add(left, 1)], -1)
  y_is_in = torch.logical_and(torch.ge(y, 0), torch.lt(y, h))
  x_is_in = torch.logical_and(torch.ge(x, 0), torch.lt(x, w))
  none = torch.zeros_like(y)
  of_rows = torch.where(y_is_in, torch.stack([torch.rsub(below, 1), below], -1), none)
  of_columns = torch.where(x_is_in, torch.stack([torch.rsub(right, 1), right], -1), none)
  shares = torch.mul(torch.unsqueeze(of_rows, -1), torch.unsqueeze(of_columns, -2))
  shares = {modulated}
  row = torch.to(torch.where(y_is_in, y, none), 4)
  column = torch.to(torch.where(x_is_in, x, none), 4)
  map = torch.reshape(torch.arange(n * parts, dtype=4, device=on), [n, parts, 1, 1, 1, 1, 1])
  row = torch.add(torch.mul(map, h), row)
  cells = torch.add(torch.unsqueeze(torch.mul(row, w), -1), torch.unsqueeze(column, -2))
  table = torch.reshape(input, [n, parts, torch.floordiv(c, parts), h * w])
  table = torch.reshape(torch.transpose(table, 2, 3), [n * parts * h * w, torch.floordiv(c, parts)])
  bags = torch.mul(torch.arange(n * parts * kh * kw * rows * columns, dtype=4, device=on), 4)
  sums = torch.embedding_bag(table, torch.flatten(cells), bags, False, 0, False, torch.flatten(shares), False)
  sampled = torch.reshape(sums[0], [n, parts, kh * kw, rows * columns, torch.floordiv(c, parts)])
  sampled = torch.reshape(torch.permute(sampled, [0, 1, 4, 2, 3]), [n, groups, depth * kh * kw, rows * columns])
  factor = torch.reshape(weight, [groups, torch.floordiv(out, groups), depth * kh * kw])
  result = torch.reshape(torch.matmul(factor, sampled), [n, out, rows, columns])
  return {shifted}
