# Greedy non-maximum suppression, see dev.saccade.core.ops.vision.Nms. Takes the best 128 boxes that are
# left, finds those that stay by suppressing all by the ones that stay until nothing changes, then
# removes the boxes that overlap them.
def overlaps(self: __torch__.M, a: Tensor, b: Tensor, iou: float) -> Tensor:
  first = torch.unsqueeze(a, 1)
  second = torch.unsqueeze(b, 0)
  least = torch.maximum(torch.slice(first, 2, 0, 2), torch.slice(second, 2, 0, 2))
  most = torch.minimum(torch.slice(first, 2, 2, 4), torch.slice(second, 2, 2, 4))
  w, h, = torch.unbind(torch.clamp(torch.sub(most, least), 0), 2)
  shared = torch.mul(w, h)
  union = torch.sub(torch.add(torch.select(second, 2, 4), torch.select(first, 2, 4)), shared)
  return torch.to(torch.gt(shared, torch.mul(union, iou)), 6)

def nms(self: __torch__.M, boxes: Tensor, scores: Tensor, groups: Tensor, iou: float, score: float, most: int) -> Tuple[Tensor, Tensor]:
  n = torch.size(scores, 0)
  c = torch.size(scores, 2)
  pairs = torch.size(scores, 1) * c
  of_row = torch.size(boxes, 1) < pairs
  group = torch.reshape(torch.add(torch.unsqueeze(torch.mul(groups, c), 1), torch.arange(c, dtype=4, device=scores.device)), [-1])
  positions = torch.zeros([n, most], dtype=4, device=scores.device)
  counts = torch.zeros([n], dtype=4, device=scores.device)
  for i in range(n):
    values = torch.reshape(torch.select(scores, 0, i), [-1])
    found = torch.squeeze(torch.nonzero(torch.gt(values, score)), 1)
    best, order = torch.sort(torch.index_select(values, 0, found), stable=True, dim=0, descending=True)
    found = torch.index_select(found, 0, order)
    rows = found
    if of_row:
      rows = torch.floor_divide(found, c)
    corners = torch.index_select(torch.select(boxes, 0, i), 0, rows)
    if torch.size(found, 0) > 0:
      apart = torch.add(torch.clamp(torch.max(corners), 0), 1)
      shift = torch.mul(torch.to(torch.index_select(group, 0, found), 6), apart)
      corners = torch.add(corners, torch.unsqueeze(shift, 1))
    x1, y1, x2, y2, = torch.unbind(corners, 1)
    areas = torch.mul(torch.sub(x2, x1), torch.sub(y2, y1))
    corners = torch.cat([corners, torch.unsqueeze(areas, 1)], 1)
    rest = torch.arange(torch.size(found, 0), dtype=4, device=scores.device)
    kept = annotate(List[Tensor], [])
    count = 0
    while count < most and torch.size(rest, 0) > 0:
      some = torch.slice(rest, 0, 0, 128)
      rest = torch.slice(rest, 0, 128)
      box = torch.index_select(corners, 0, some)
      over = torch.t(torch.triu((self).overlaps(box, box, iou), 1))
      stays = torch.ones([torch.size(some, 0)], dtype=6, device=scores.device)
      going = True
      while going:
        now = torch.to(torch.eq(torch.mv(over, stays), 0), 6)
        going = not torch.equal(now, stays)
        stays = now
      stay = torch.squeeze(torch.nonzero(stays), 1)
      kept = torch.append(kept, torch.index_select(some, 0, stay))
      count = count + torch.size(stay, 0)
      if count < most:
        hits = torch.sum((self).overlaps(torch.index_select(box, 0, stay), torch.index_select(corners, 0, rest), iou), [0])
        rest = torch.index_select(rest, 0, torch.squeeze(torch.nonzero(torch.eq(hits, 0)), 1))
    if count > 0:
      taken = torch.slice(torch.index_select(found, 0, torch.cat(kept)), 0, 0, most)
      _0 = torch.copy_(torch.slice(torch.select(positions, 0, i), 0, 0, torch.size(taken, 0)), taken)
      _1 = torch.fill_(torch.select(counts, 0, i), torch.size(taken, 0))
  return (positions, counts)
