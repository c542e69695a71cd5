def bands(v: Tensor, a: Tensor) -> Tensor:
  # Sums where there are no factors: for the tile tokens of a tile and a row of the kernel, a
  # product of a band matrix of weights, [tile, band], with the band pixels of a row of the map that
  # the tile sees, [band, depth].
  kernel = {kernel}
  dilation = {dilation}
  # Tokens of a row that share a band: few waste little of it, many make large products.
  tile = 7
  reach = kernel // 2 * dilation
  band = tile + 2 * reach
  bands_and_gaps = [band, 1] * (kernel - 1) + [band]
  n = torch.size(v, 0)
  h = torch.size(v, 1)
  w = torch.size(v, 2)
  groups = torch.size(a, 3) // (kernel * kernel)
  depth = torch.size(v, 3) // groups
  tiles = (w + tile - 1) // tile
  extra = tiles * tile - w

  # The values of each column of tiles, [tiles][h + 2 reach, n, groups, band, depth].
  padded = torch.constant_pad_nd(v, [0, 0, reach, reach + extra, reach, reach])
  pixels = torch.unfold(padded, 2, band, tile)
  pixels = torch.reshape(pixels, [n, h + 2 * reach, tiles, groups, depth, band])
  values = torch.unbind(torch.contiguous(torch.permute(pixels, [2, 1, 0, 3, 5, 4])))

  # The weights of the same, [tiles][h, n, groups, tile, kernel, kernel, 1].
  if extra > 0:
    a = torch.constant_pad_nd(a, [0, 0, 0, extra])
  taps = torch.reshape(a, [n, h, tiles, tile, groups, kernel, kernel, 1])
  weights = torch.unbind(torch.permute(taps, [2, 1, 0, 4, 3, 5, 6, 7]))

  columns = annotate(List[Tensor], [])
  for i in range(tiles):
    # Zeros between taps, as far apart as their pixels, and up to band + 1 numbers.
    row = weights[i]
    if dilation > 1:
      row = torch.constant_pad_nd(row, [0, dilation - 1])
    row = torch.reshape(row, [h, n, groups, tile, kernel, kernel * dilation])
    row = torch.constant_pad_nd(row, [0, band + 1 - kernel * dilation])

    # Read again with one number less a token, each token's taps stand one place
    # right of its predecessor's: band matrices, side by side, a number between two.
    flat = torch.reshape(row, [h * n * groups, -1])
    skewed = torch.slice(flat, 1, 0, -tile)
    skewed = torch.reshape(skewed, [h * n * groups, tile, -1])
    bands = torch.split_with_sizes(skewed, bands_and_gaps, 2)

    near = torch.slice(values[i], 0, 0, h)
    y = torch.bmm(bands[0], torch.reshape(near, [-1, band, depth]))
    for k in range(1, kernel):
      near = torch.slice(values[i], 0, k * dilation, k * dilation + h)
      y = torch.baddbmm_(y, bands[2 * k], torch.reshape(near, [-1, band, depth]))
    columns = torch.append(columns, torch.reshape(y, [h, n, groups, tile, depth]))

  y = torch.permute(torch.stack(columns, 2), [1, 0, 2, 4, 3, 5])
  y = torch.reshape(y, [n, h, tiles * tile, groups * depth])
  return torch.slice(y, 2, 0, w)

def taps(v: Tensor, a: Tensor) -> Tensor:
  # The same sums, one neighbor at a time: the operators do not depend on the size of the map.
  kernel = {kernel}
  dilation = {dilation}
  reach = kernel // 2 * dilation
  n = torch.size(v, 0)
  h = torch.size(v, 1)
  w = torch.size(v, 2)
  g = torch.size(a, 3) // (kernel * kernel)
  padded = torch.constant_pad_nd(v, [0, 0, reach, reach, reach, reach])
  padded = torch.reshape(padded, [n, h + 2 * reach, w + 2 * reach, g, -1])
  weights = torch.unbind(torch.reshape(a, [n, h, w, g, 1, kernel * kernel]), 5)
  y = torch.zeros([], dtype=6, device=v.device)
  for k in range(kernel * kernel):
    top = (k // kernel) * dilation
    left = (k % kernel) * dilation
    near = torch.slice(torch.slice(padded, 1, top, top + h), 2, left, left + w)
    y = torch.add(y, torch.mul(near, weights[k]))
  return torch.reshape(y, torch.size(v))

def modulated(v: Tensor, a: Tensor, mul: Tensor) -> Tensor:
  # Sums with a factor per channel; one product of three tensors needs no intermediate result.
  kernel = {kernel}
  dilation = {dilation}
  reach = kernel // 2 * dilation
  n = torch.size(v, 0)
  h = torch.size(v, 1)
  w = torch.size(v, 2)
  g = torch.size(a, 3) // (kernel * kernel)
  padded = torch.constant_pad_nd(v, [0, 0, reach, reach, reach, reach])
  padded = torch.reshape(padded, [n, h + 2 * reach, w + 2 * reach, g, -1])
  weights = torch.unbind(torch.reshape(a, [n, h, w, g, kernel, kernel]), 4)
  factors = torch.reshape(torch.pow(mul, {lambda}), [g, -1, kernel, kernel])
  factors = torch.unbind(torch.permute(factors, [2, 0, 3, 1]))
  y = torch.new_zeros(v, [n, h, w, g, torch.size(v, 3) // g])
  for k in range(kernel):
    row = torch.slice(padded, 1, k * dilation, k * dilation + h)
    near = torch.transpose(torch.unfold(row, 2, 2 * reach + 1, 1), 4, 5)
    near = torch.slice(near, 4, 0, 2 * reach + 1, dilation)
    part = torch._trilinear(factors[k], near, weights[k], [0, 1, 2], [], [5], [4])
    y = torch.add_(y, part)
  return torch.reshape(y, torch.size(v))
