# RoIAlign, see dev.saccade.core.ops.vision.RoiAlign, of up to 64 regions of a level at a time: weights
# of rows, times the cells of the map, times weights of columns. Regions of similar height go together,
# because all are cut as large as the largest.
def bins(self: __torch__.M, start: Tensor, extent: Tensor, first: Tensor, parts: int, ratio: int, cells: int, edge: int) -> Tensor:
  counts = torch.clamp(torch.ceil(torch.div(extent, parts)), 1)
  if ratio > 0:
    counts = torch.full_like(extent, ratio)
  sample = torch.arange(int(torch.max(counts)), dtype=6, device=extent.device)
  part = torch.unsqueeze(torch.arange(parts, dtype=6, device=extent.device), 1)
  count = torch.reshape(counts, [-1, 1, 1])
  step = torch.reshape(torch.div(extent, parts), [-1, 1, 1])
  points = torch.mul(torch.add(part, torch.div(torch.add(sample, 0.5), count)), step)
  points = torch.add(points, torch.reshape(start, [-1, 1, 1]))
  there = torch.logical_and(torch.ge(points, -1.), torch.le(points, edge))
  there = torch.logical_and(there, torch.lt(sample, count))
  points = torch.unsqueeze(torch.clamp(points, 0, edge - 1), 3)
  cell = torch.add(torch.unsqueeze(first, 1), torch.arange(cells, dtype=4, device=extent.device))
  cell = torch.reshape(cell, [-1, 1, 1, cells])
  near = torch.clamp(torch.rsub(torch.abs(torch.sub(points, cell)), 1), 0)
  near = torch.mul(near, torch.unsqueeze(torch.to(there, 6), 3))
  return torch.div(torch.sum(near, [2]), count)

def roi_align(self: __torch__.M, maps: List[Tensor], rois: Tensor, levels: Tensor, scales: List[float], size: List[int], ratio: int, aligned: bool) -> Tensor:
  c = torch.size(maps[0], 1)
  pooled = torch.zeros([torch.size(rois, 0), c, size[0], size[1]], dtype=6, device=rois.device)
  offset = 0.
  if aligned:
    offset = 0.5
  for l in range(torch.len(maps)):
    here = torch.squeeze(torch.nonzero(torch.eq(levels, l)), 1)
    n = torch.size(here, 0)
    h = torch.size(maps[l], 2)
    w = torch.size(maps[l], 3)
    cells = torch.to(torch.reshape(torch.permute(maps[l], [0, 2, 3, 1]), [-1, c]), 6)
    region = torch.index_select(rois, 0, here)
    box = torch.nan_to_num(torch.sub(torch.mul(torch.slice(region, 1, 1), scales[l]), offset))
    x, y, x2, y2, = torch.unbind(box, 1)
    across = torch.sub(x2, x)
    down = torch.sub(y2, y)
    if not aligned:
      across = torch.clamp(across, 1.)
      down = torch.clamp(down, 1.)
    left = torch.to(torch.clamp(torch.floor(x), 0, w - 1), 4)
    top = torch.to(torch.clamp(torch.floor(y), 0, h - 1), 4)
    right = torch.to(torch.clamp(torch.add(torch.floor(torch.add(x, across)), 2), 1, w), 4)
    bottom = torch.to(torch.clamp(torch.add(torch.floor(torch.add(y, down)), 2), 1, h), 4)
    width = torch.clamp(torch.sub(right, left), 1)
    height = torch.clamp(torch.sub(bottom, top), 1)
    order = torch.argsort(height)
    at = 0
    while at < n:
      k = ops.prim.min(64, n - at)
      some = torch.slice(order, 0, at, at + k)
      rows = int(torch.max(torch.index_select(height, 0, some)))
      columns = int(torch.max(torch.index_select(width, 0, some)))
      while k > 1 and k * rows * columns > 65536:
        k = torch.floordiv(k, 2)
        some = torch.slice(order, 0, at, at + k)
        rows = int(torch.max(torch.index_select(height, 0, some)))
        columns = int(torch.max(torch.index_select(width, 0, some)))
      t = torch.index_select(top, 0, some)
      s = torch.index_select(left, 0, some)
      d = torch.index_select(down, 0, some)
      a = torch.index_select(across, 0, some)
      down_weights = (self).bins(torch.index_select(y, 0, some), d, t, size[0], ratio, rows, h)
      across_weights = (self).bins(torch.index_select(x, 0, some), a, s, size[1], ratio, columns, w)
      image = torch.to(torch.select(torch.index_select(region, 0, some), 1, 0), 4)
      row = torch.clamp(torch.add(torch.unsqueeze(t, 1), torch.arange(rows, dtype=4, device=rois.device)), 0, h - 1)
      column = torch.clamp(torch.add(torch.unsqueeze(s, 1), torch.arange(columns, dtype=4, device=rois.device)), 0, w - 1)
      row = torch.mul(torch.add(row, torch.unsqueeze(torch.mul(image, h), 1)), w)
      cell = torch.reshape(torch.add(torch.unsqueeze(row, 2), torch.unsqueeze(column, 1)), [-1])
      part = torch.reshape(torch.index_select(cells, 0, cell), [k, rows, columns * c])
      part = torch.reshape(torch.bmm(down_weights, part), [k, size[0], columns, c])
      bin = torch.matmul(torch.unsqueeze(across_weights, 1), part)
      is_area = torch.logical_and(torch.gt(d, 0), torch.gt(a, 0))
      bin = torch.mul(bin, torch.reshape(torch.to(is_area, 6), [-1, 1, 1, 1]))
      _0 = torch.index_copy_(pooled, 0, torch.index_select(here, 0, some), torch.permute(bin, [0, 3, 1, 2]))
      at = at + k
  return torch.type_as(pooled, maps[0])
