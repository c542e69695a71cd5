package dev.saccade.export;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The operators of detectors that libtorch has none for, in TorchScript. */
public final class Detecting {

    /** {@code (boxes, scores, groups, iou, score, most) -> (positions, counts)}. */
    public static final String NMS = "saccade::nms";

    /** {@code (maps, rois, levels, scales, size, sampling_ratio, aligned) -> pooled}. */
    public static final String ROI_ALIGN = "saccade::roi_align";

    /**
     * See {@link dev.saccade.core.ops.vision.Nms}; some of the best boxes that are left at a time.
     * Which of these stay is found by suppressing all by those that stay until nothing changes: one
     * is settled once all before it are.
     */
    private static final String NMS_FUNCTION =
            """
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
            """;

    /**
     * See {@link dev.saccade.core.ops.vision.RoiAlign}: of some regions of a level at a time, the
     * rows and columns of the map that they lie over, times the weights that they have in their
     * bins. Regions of like heights go together, as all are cut as large as the largest.
     */
    private static final String ROI_ALIGN_FUNCTION =
            """
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
            """;

    private Detecting() {}

    /** Returns the functions that a graph calls. */
    static List<String> functions(Graph graph) {
        Set<String> called =
                graph.nodes().stream().map(Graph.Node::name).collect(Collectors.toSet());
        List<String> functions = new ArrayList<>();
        if (called.contains(NMS)) {
            functions.add(NMS_FUNCTION);
        }
        if (called.contains(ROI_ALIGN)) {
            functions.add(ROI_ALIGN_FUNCTION);
        }
        return functions;
    }
}
