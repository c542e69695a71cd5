def bands(v: Tensor, a: Tensor) -> Tensor:
  # For lambda = 0. For each tile of tokens and each kernel row, multiplies a band matrix of weights,
  # [tile, band], with the pixels of a map row within reach of the tile, [band, depth].
  kernel = {kernel}
  dilation = {dilation}
  # Tokens per tile: small tiles waste less of the band, large tiles have larger products.
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

  # Values of each column of tiles, [tiles][h + 2 reach, n, groups, band, depth].
  padded = torch.constant_pad_nd(v, [0, 0, reach, reach + extra, reach, reach])
  pixels = torch.unfold(padded, 2, band, tile)
  pixels = torch.reshape(pixels, [n, h + 2 * reach, tiles, groups, depth, band])
  values = torch.unbind(torch.contiguous(torch.permute(pixels, [2, 1, 0, 3, 5, 4])))

  # Weights of each column of tiles, [tiles][h, n, groups, tile, kernel, kernel, 1].
  if extra > 0:
    a = torch.constant_pad_nd(a, [0, 0, 0, extra])
  taps = torch.reshape(a, [n, h, tiles, tile, groups, kernel, kernel, 1])
  weights = torch.unbind(torch.permute(taps, [2, 1, 0, 4, 3, 5, 6, 7]))

  columns = annotate(List[Tensor], [])
  for i in range(tiles):
    # Dilates the taps with zeros and pads them to band + 1 numbers.
    row = weights[i]
    if dilation > 1:
      row = torch.constant_pad_nd(row, [0, dilation - 1])
    row = torch.reshape(row, [h, n, groups, tile, kernel, kernel * dilation])
    row = torch.constant_pad_nd(row, [0, band + 1 - kernel * dilation])

    # Reshaping with one number less per token shifts the taps of each token by one to the
    # right of its predecessor's, which gives the band matrices.
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
  # Like bands, one neighbor at a time, with operators that do not depend on the map size.
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
  # For lambda != 0. A product of three tensors needs no intermediate result.
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
