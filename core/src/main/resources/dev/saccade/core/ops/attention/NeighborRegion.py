def products(q: Tensor, rows: Tensor) -> Tensor:
  kernel = {kernel}
  n = torch.size(q, 0)
  h = torch.size(q, 1)
  w = torch.size(q, 2)
  heads = torch.size(q, 3)
  chunks = (w + kernel - 1) // kernel
  if w % kernel > 0:
    q = torch.constant_pad_nd(q, [0, 0, 0, 0, 0, chunks * kernel - w])
  cells = torch.reshape(q, [n, h, chunks, kernel, heads, -1])
  ordered = torch.permute(cells, [1, 0, 2, 4, 3, 5])
  m = n * chunks * heads
  queries = torch.reshape(ordered, [h, m, kernel, -1])
  b = 2 * kernel - 1
  strides = [m * kernel * b, kernel * b, b + 1, 1]
  near = annotate(List[Tensor], [])
  for y in range(kernel):
    keys = torch.slice(rows, 0, y, y + h)
    band = torch.matmul(queries, torch.transpose(keys, 2, 3))
    diagonals = torch.as_strided(band, [h, m, kernel, kernel], strides)
    parts = torch.reshape(diagonals, [h, n, chunks, heads, kernel, kernel])
    _ = torch.append(near, torch.permute(parts, [1, 0, 2, 4, 3, 5]))
  size = [n, h, chunks * kernel, heads, kernel * kernel]
  values = torch._unsafe_view(torch.stack(near, 5), size)
  if w % kernel > 0:
    values = torch.contiguous(torch.slice(values, 2, 0, w))
  return values

def around(values: Tensor) -> Tensor:
  # Moves the value of each offset to the neighbor at the opposite offset.
  kernel = {kernel}
  h = torch.size(values, 1)
  w = torch.size(values, 2)
  r = kernel // 2
  padded = torch.constant_pad_nd(values, [0, 0, 0, 0, r, r, r, r])
  offsets = torch.unbind(padded, -1)
  near = annotate(List[Tensor], [])
  for i in range(kernel * kernel):
    y = i // kernel
    x = i % kernel
    rows = torch.slice(offsets[i], 1, y, y + h)
    _ = torch.append(near, torch.slice(rows, 2, x, x + w))
  return torch.stack(near, -1)

def products_by_offset(q: Tensor, k: Tensor) -> Tensor:
  # Like products, with operators that do not depend on the map size.
  kernel = {kernel}
  h = torch.size(q, 1)
  w = torch.size(q, 2)
  r = kernel // 2
  padded = torch.constant_pad_nd(k, [0, 0, 0, 0, r, r, r, r])
  near = annotate(List[Tensor], [])
  for i in range(kernel * kernel):
    y = i // kernel
    x = i % kernel
    keys = torch.slice(torch.slice(padded, 1, y, y + h), 2, x, x + w)
    _ = torch.append(near, torch.sum(torch.mul(q, keys), [4]))
  return torch.stack(near, 4)

def rows(x: Tensor) -> Tensor:
  # Returns [H + K - 1, N * chunks * heads, 2 K - 1, d].
  kernel = {kernel}
  right = kernel // 2 + (kernel - torch.size(x, 2) % kernel) % kernel
  pad = [0, 0, 0, 0, kernel // 2, right, kernel // 2, kernel // 2]
  chunks = torch.unfold(torch.constant_pad_nd(x, pad), 2, 2 * kernel - 1, kernel)
  rows = torch.permute(chunks, [1, 0, 2, 3, 5, 4])
  height = torch.size(x, 1) + kernel - 1
  return torch.reshape(rows, [height, -1, 2 * kernel - 1, torch.size(x, 4)])
