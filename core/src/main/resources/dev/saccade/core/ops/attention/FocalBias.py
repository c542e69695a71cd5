def ring(own: Tensor, neighbors: Tensor) -> Tensor:
  # Each shifted copy of the map contains a corner of the ring and half of the two adjacent sides:
  # a part of full width and a part next to the window.
  window = {window}
  expand = {expand}
  absent = {absent}
  heads = torch.size(own, 0)
  queries = torch.size(own, 1)
  beside = (window - expand) * expand
  across = expand * window
  sizes = [beside, across, beside, across, across, beside, across, beside]
  low = [heads, queries, window - expand, expand]
  flat = [heads, queries, expand, window]
  r0, b0, l0, b1, t0, r1, t1, l1, = torch.split_with_sizes(torch.select(neighbors, 0, 0), sizes, 2)
  top = torch.logaddexp(
    torch.constant_pad_nd(torch.reshape(t0, flat), [2 * expand, 0], absent),
    torch.constant_pad_nd(torch.reshape(t1, flat), [0, 2 * expand], absent))
  bottom = torch.logaddexp(
    torch.constant_pad_nd(torch.reshape(b0, flat), [2 * expand, 0], absent),
    torch.constant_pad_nd(torch.reshape(b1, flat), [0, 2 * expand], absent))
  left = torch.logaddexp(
    torch.constant_pad_nd(torch.reshape(l0, low), [0, 0, expand, 0], absent),
    torch.constant_pad_nd(torch.reshape(l1, low), [0, 0, 0, expand], absent))
  right = torch.logaddexp(
    torch.constant_pad_nd(torch.reshape(r0, low), [0, 0, expand, 0], absent),
    torch.constant_pad_nd(torch.reshape(r1, low), [0, 0, 0, expand], absent))
  middle = torch.cat([left, torch.reshape(own, [heads, queries, window, window]), right], 3)
  return torch.flatten(torch.cat([top, middle, bottom], 2), 2)
