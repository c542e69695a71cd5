package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.List;
import java.util.Map;

/**
 * Adaptive training sample selection (Zhang et al. 2020), like mmdetection's {@code ATSSAssigner}.
 *
 * <p>Candidates of an object are the {@code topk} anchors of each level with the nearest centers. A
 * candidate is positive if its IoU is at least the mean plus the standard deviation of the IoUs of
 * all candidates, and its center lies more than 0.01 pixels inside the box. An anchor that is
 * positive for several objects is assigned to the object with the largest IoU, the first on ties.
 * All other anchors are background, except in ignored regions.
 *
 * <p>A single candidate has no standard deviation and is not positive. Among anchors at the same
 * distance, {@code torch.topk} chooses, which can differ between CPUs and GPUs.
 *
 * @param topk candidates per level; fewer if the level has fewer anchors
 * @param ignoreIofThr anchors with a larger fraction inside an ignored region are ignored, and
 *     become candidates only if there are too few other anchors; 0 or less to disable
 */
@Component("atss")
public record AtssAssigner(@Default("9") int topk, @Default("-1") double ignoreIofThr)
        implements Assigner {

    /**
     * Only the distances are computed for all pairs of anchors and objects; everything else is
     * {@code [candidates, K]}.
     */
    private static final ScriptTemplate ASSIGN =
            ScriptTemplate.of(
                    "(levels: List[Tensor], objects: List[Tensor], skip: List[Tensor])"
                            + " -> Tuple[Tensor, Tensor]",
                    """
                    b = torch.unbind(torch.contiguous(torch.t(torch.cat(levels))), 0)
                    o = torch.unbind(objects[0], 1)
                    n = torch.size(b[0], 0)
                    k = torch.size(o[0], 0)
                    x = torch.div(torch.add(b[0], b[2]), 2.)
                    y = torch.div(torch.add(b[1], b[3]), 2.)
                    dx = torch.sub(torch.unsqueeze(x, 1), torch.div(torch.add(o[0], o[2]), 2.))
                    dy = torch.sub(torch.unsqueeze(y, 1), torch.div(torch.add(o[1], o[3]), 2.))
                    distance = torch.sqrt(torch.add(torch.mul(dx, dx), torch.mul(dy, dy)))
                    background = torch.zeros([n], dtype=4, device=x.device)
                    if torch.size(skip[0], 0) > 0:
                      distance = torch.masked_fill(distance, torch.unsqueeze(skip[0], 1), 1e8)
                      background = torch.masked_fill(background, skip[0], -1)
                    found = annotate(List[Tensor], [])
                    start = 0
                    for i in range(torch.len(levels)):
                      end = start + torch.size(levels[i], 0)
                      count = {topk}
                      if count > end - start:
                        count = end - start
                      part = torch.slice(distance, 0, start, end)
                      _0, near = torch.topk(part, count, 0, False, True)
                      _1 = torch.append(found, torch.add(near, start))
                      start = end
                    candidates = torch.cat(found)
                    place = torch.reshape(candidates, [-1])
                    size = torch.size(candidates)
                    x1 = torch.reshape(torch.index_select(b[0], 0, place), size)
                    y1 = torch.reshape(torch.index_select(b[1], 0, place), size)
                    x2 = torch.reshape(torch.index_select(b[2], 0, place), size)
                    y2 = torch.reshape(torch.index_select(b[3], 0, place), size)
                    w = torch.clamp(torch.sub(torch.minimum(x2, o[2]), torch.maximum(x1, o[0])), 0)
                    h = torch.clamp(torch.sub(torch.minimum(y2, o[3]), torch.maximum(y1, o[1])), 0)
                    shared = torch.mul(w, h)
                    area = torch.mul(torch.sub(x2, x1), torch.sub(y2, y1))
                    whole = torch.mul(torch.sub(o[2], o[0]), torch.sub(o[3], o[1]))
                    union = torch.sub(torch.add(area, whole), shared)
                    iou = torch.div(shared, torch.clamp(union, 1e-06))
                    exact = torch.to(iou, 7)
                    mean = torch.mean(exact, [0])
                    squares = torch.sum(torch.pow(torch.sub(exact, mean), 2), [0])
                    deviation = torch.sqrt(torch.div(squares, torch.size(iou, 0) - 1))
                    positive = torch.ge(exact, torch.add(mean, deviation))
                    cx = torch.div(torch.add(x1, x2), 2.)
                    cy = torch.div(torch.add(y1, y2), 2.)
                    across = torch.minimum(torch.sub(cx, o[0]), torch.sub(o[2], cx))
                    down = torch.minimum(torch.sub(cy, o[1]), torch.sub(o[3], cy))
                    inside = torch.gt(torch.minimum(across, down), 0.01)
                    positive = torch.logical_and(positive, inside)
                    value = torch.reshape(torch.where(positive, iou, -1.), [-1])
                    none = torch.full([n], -1., dtype=6, device=x.device)
                    most = torch.scatter_reduce(none, 0, place, value, "amax")
                    best = torch.eq(value, torch.index_select(most, 0, place))
                    best = torch.logical_and(best, torch.ge(value, 0))
                    number = torch.arange(1, k + 1, dtype=4, device=x.device)
                    number = torch.reshape(torch.expand(number, size), [-1])
                    last = torch.full([n], k + 1, dtype=4, device=x.device)
                    first = torch.scatter_reduce(last, 0, place, torch.where(best, number, k + 1), "amin")
                    taken = torch.ge(most, 0)
                    return (torch.where(taken, first, background), torch.clamp(most, 0))
                    """);

    public AtssAssigner {
        new Checks()
                .inRange("topk", topk, 1, 100_000)
                .inRange("ignore_iof_thr", ignoreIofThr, -1, 1)
                .throwIfAny();
    }

    /** {@inheritDoc} {@code maxOverlaps} is 0 for all priors that are not positive. */
    @Override
    public Assignment assign(Priors priors, GtInstances objects) {
        NDArray boxes = priors.boxes();
        if (objects.size() == 0 || priors.size() == 0) {
            Shape shape = new Shape(priors.size());
            NDManager manager = boxes.getManager();
            return new Assignment(manager.zeros(shape, DataType.INT64), manager.zeros(shape));
        }
        NDArray skip = new IgnoredRegions(ignoreIofThr, true).contain(boxes, objects.ignored());
        List<NDArray> levels = Priors.split(boxes, 0, priors.perLevel());
        NDList found =
                ASSIGN.with(Map.of("topk", topk))
                        .runLists(List.of(levels, List.of(objects.boxes()), List.of(skip)));
        return new Assignment(found.get(0), found.get(1));
    }
}
