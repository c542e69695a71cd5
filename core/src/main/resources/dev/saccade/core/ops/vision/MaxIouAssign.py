def portable(boxes: Tensor, objects: Tensor, skip: Tensor) -> Tuple[Tensor, Tensor]:
  # Loops over objects to avoid the matrix of all IoUs.
  n = torch.size(boxes, 0)
  k = torch.size(objects, 0)
  b = torch.unbind(torch.contiguous(torch.t(boxes)), 0)
  area = torch.mul(torch.sub(b[2], b[0]), torch.sub(b[3], b[1]))
  place = torch.arange(n, dtype=4, device=boxes.device)
  most = torch.zeros([n], dtype=6, device=boxes.device)
  some = torch.size(skip, 0) > 0
  if some:
    most = torch.masked_fill(most, skip, -1.)
  best = torch.zeros_like(place)
  low = torch.zeros_like(place)
  g = 0
  while g < k:
    o = torch.unbind(torch.select(objects, 0, g), 0)
    w = torch.sub(torch.minimum(b[2], o[2]), torch.maximum(b[0], o[0]))
    h = torch.sub(torch.minimum(b[3], o[3]), torch.maximum(b[1], o[1]))
    shared = torch.mul(w, h)
    apart = torch.logical_or(torch.le(w, 0), torch.le(h, 0))
    apart = torch.logical_or(apart, torch.eq(shared, 0))
    whole = torch.mul(torch.sub(o[2], o[0]), torch.sub(o[3], o[1]))
    union = torch.sub(torch.add(area, whole), shared)
    iou = torch.div(shared, torch.clamp(union, 1e-06))
    iou = torch.masked_fill(iou, apart, 0.)
    if some:
      iou = torch.masked_fill(iou, skip, -1.)
    better = torch.gt(iou, most)
    most = torch.where(better, iou, most)
    best = torch.masked_fill(best, better, g)
    if {low}:
      found = torch.amax(torch.where(torch.gt(iou, 0), iou, 0.))
      match = torch.logical_and(torch.eq(iou, found), torch.ge(found, {min_pos}))
      if {all}:
        taken = match
      else:
        match = torch.logical_or(match, torch.logical_and(torch.eq(found, 0), torch.ge(found, {min_pos})))
        if some:
          match = torch.logical_and(match, torch.logical_not(skip))
        taken = torch.eq(place, torch.amin(torch.where(match, place, n)))
      low = torch.masked_fill(low, taken, g + 1)
    g = g + 1
  background = torch.logical_and(torch.ge(most, 0), torch.lt(most, {neg}))
  gt_inds = torch.sub(torch.to(background, 4), 1)
  gt_inds = torch.where(torch.ge(most, {pos}), torch.add(best, 1), gt_inds)
  return (torch.where(torch.gt(low, 0), low, gt_inds), most)
