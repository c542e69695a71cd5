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

    /** See {@link dev.saccade.core.ops.Nms}; one image after the other, and one object. */
    private static final String NMS_FUNCTION =
            """
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
                rest = torch.arange(torch.size(found, 0), dtype=4, device=scores.device)
                kept = annotate(List[Tensor], [])
                going = torch.size(found, 0) > 0
                while going:
                  first = torch.slice(rest, 0, 0, 1)
                  kept = torch.append(kept, first)
                  others = torch.slice(rest, 0, 1)
                  w = torch.clamp(torch.sub(torch.minimum(torch.index_select(x2, 0, others), torch.index_select(x2, 0, first)), torch.maximum(torch.index_select(x1, 0, others), torch.index_select(x1, 0, first))), 0)
                  h = torch.clamp(torch.sub(torch.minimum(torch.index_select(y2, 0, others), torch.index_select(y2, 0, first)), torch.maximum(torch.index_select(y1, 0, others), torch.index_select(y1, 0, first))), 0)
                  shared = torch.mul(w, h)
                  union = torch.sub(torch.add(torch.index_select(areas, 0, others), torch.index_select(areas, 0, first)), shared)
                  stays = torch.logical_not(torch.gt(shared, torch.mul(union, iou)))
                  rest = torch.index_select(others, 0, torch.squeeze(torch.nonzero(stays), 1))
                  going = torch.size(rest, 0) > 0 and torch.len(kept) < most
                count = torch.len(kept)
                if count > 0:
                  taken = torch.index_select(found, 0, torch.cat(kept))
                  _0 = torch.copy_(torch.slice(torch.select(positions, 0, i), 0, 0, count), taken)
                  _1 = torch.fill_(torch.select(counts, 0, i), count)
              return (positions, counts)
            """;

    /**
     * See {@link dev.saccade.core.ops.RoiAlign}: of each region the rows and columns of the map
     * that it lies over, times the weights that they have in its bins.
     */
    private static final String ROI_ALIGN_FUNCTION =
            """
            def bins(self: __torch__.M, start: float, extent: float, parts: int, ratio: int, first: int, last: int, cells: int, like: Tensor) -> Tensor:
              count = ratio
              if count == 0:
                count = torch.ceil(extent / parts)
              if count < 1:
                count = 1
              step = extent / parts
              points = torch.add(torch.mul(torch.add(torch.arange(parts * count, dtype=6, device=like.device), 0.5), step / count), start)
              there = torch.logical_and(torch.ge(points, -1.), torch.le(points, cells))
              points = torch.clamp(points, 0, cells - 1)
              cell = torch.arange(first, last, dtype=6, device=like.device)
              near = torch.clamp(torch.rsub(torch.abs(torch.sub(torch.unsqueeze(points, 1), cell)), 1), 0)
              near = torch.mul(near, torch.unsqueeze(torch.to(there, 6), 1))
              return torch.mean(torch.reshape(near, [parts, count, -1]), [1])

            def roi_align(self: __torch__.M, maps: List[Tensor], rois: Tensor, levels: Tensor, scales: List[float], size: List[int], ratio: int, aligned: bool) -> Tensor:
              r = torch.size(rois, 0)
              pooled = torch.zeros([r, torch.size(maps[0], 1), size[0], size[1]], dtype=6, device=rois.device)
              offset = 0.
              if aligned:
                offset = 0.5
              host = torch.to(rois, torch.device("cpu"))
              level = torch.to(levels, torch.device("cpu"))
              for i in range(r):
                l = int(torch.select(level, 0, i))
                image = torch.select(maps[l], 0, int(torch.select(torch.select(host, 0, i), 0, 0)))
                h = torch.size(image, 1)
                w = torch.size(image, 2)
                box = torch.sub(torch.mul(torch.slice(torch.select(host, 0, i), 0, 1), scales[l]), offset)
                x = float(torch.select(box, 0, 0))
                y = float(torch.select(box, 0, 1))
                across = float(torch.sub(torch.select(box, 0, 2), torch.select(box, 0, 0)))
                down = float(torch.sub(torch.select(box, 0, 3), torch.select(box, 0, 1)))
                if not aligned:
                  across = ops.prim.max(across, 1.)
                  down = ops.prim.max(down, 1.)
                left = ops.prim.min(ops.prim.max(int(x), 0), w - 1)
                top = ops.prim.min(ops.prim.max(int(y), 0), h - 1)
                right = ops.prim.min(ops.prim.max(int(x + across) + 2, left + 1), w)
                bottom = ops.prim.min(ops.prim.max(int(y + down) + 2, top + 1), h)
                if across > 0. and down > 0.:
                  rows = (self).bins(y, down, size[0], ratio, top, bottom, h, rois)
                  columns = (self).bins(x, across, size[1], ratio, left, right, w, rois)
                  part = torch.slice(torch.slice(image, 1, top, bottom), 2, left, right)
                  bin = torch.matmul(torch.matmul(rows, part), torch.t(columns))
                  _0 = torch.copy_(torch.select(pooled, 0, i), bin)
              return pooled
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
