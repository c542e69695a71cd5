package dev.saccade.heads;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.Script;
import dev.saccade.core.ops.Tensors;

/**
 * Losses between predicted and true boxes or box changes; each method returns the weighted sum, a
 * scalar that is 0 for no boxes. They follow mmdetection's losses of the same names.
 */
public final class BoxLosses {

    private static final String SIGNATURE =
            "(pred: Tensor, target: Tensor, weight: Tensor) -> Tensor";

    private static final Script L1 =
            Script.compile(
                    SIGNATURE,
                    "return torch.sum(torch.mul(torch.abs(torch.sub(pred, target)), weight))");

    private static final Script SMOOTH_L1 =
            Script.compile(
                    "(pred: Tensor, target: Tensor, weight: Tensor, beta: Tensor) -> Tensor",
                    """
                    b = float(beta)
                    d = torch.abs(torch.sub(pred, target))
                    inner = torch.mul(torch.mul(d, d), 0.5 / b)
                    outer = torch.sub(d, 0.5 * b)
                    return torch.sum(torch.mul(torch.where(torch.lt(d, b), inner, outer), weight))
                    """);

    /** Corners, intersection and areas of box pairs; what every IoU loss starts with. */
    private static final String OVERLAP =
            """
            p = torch.unbind(pred, 1)
            t = torch.unbind(target, 1)
            w = torch.clamp(torch.sub(torch.minimum(p[2], t[2]), torch.maximum(p[0], t[0])), 0)
            h = torch.clamp(torch.sub(torch.minimum(p[3], t[3]), torch.maximum(p[1], t[1])), 0)
            inter = torch.mul(w, h)
            area_p = torch.mul(torch.sub(p[2], p[0]), torch.sub(p[3], p[1]))
            area_t = torch.mul(torch.sub(t[2], t[0]), torch.sub(t[3], t[1]))
            union = torch.sub(torch.add(area_p, area_t), inter)
            """;

    /** Sides of the smallest box around both. */
    private static final String ENCLOSURE =
            """
            cw = torch.sub(torch.maximum(p[2], t[2]), torch.minimum(p[0], t[0]))
            ch = torch.sub(torch.maximum(p[3], t[3]), torch.minimum(p[1], t[1]))
            """;

    /** IoU less the squared centre distance over the squared diagonal of the enclosure. */
    private static final String DISTANCE =
            """
            iou = torch.div(inter, torch.add(union, 1e-06))
            c2 = torch.add(torch.add(torch.pow(cw, 2), torch.pow(ch, 2)), 1e-06)
            dx = torch.sub(torch.add(t[0], t[2]), torch.add(p[0], p[2]))
            dy = torch.sub(torch.add(t[1], t[3]), torch.add(p[1], p[3]))
            rho2 = torch.div(torch.add(torch.pow(dx, 2), torch.pow(dy, 2)), 4.)
            distance = torch.div(rho2, c2)
            """;

    private static final Script IOU =
            Script.compile(
                    SIGNATURE,
                    OVERLAP
                            + """
                            iou = torch.div(inter, torch.clamp(union, 1e-06))
                            loss = torch.neg(torch.log(torch.clamp(iou, 1e-06)))
                            return torch.sum(torch.mul(loss, weight))
                            """);

    private static final Script GIOU =
            Script.compile(
                    SIGNATURE,
                    OVERLAP
                            + ENCLOSURE
                            + """
                            union = torch.clamp(union, 1e-06)
                            hull = torch.clamp(torch.mul(cw, ch), 1e-06)
                            iou = torch.div(inter, union)
                            giou = torch.sub(iou, torch.div(torch.sub(hull, union), hull))
                            return torch.sum(torch.mul(torch.rsub(giou, 1.), weight))
                            """);

    private static final Script DIOU =
            Script.compile(
                    SIGNATURE,
                    OVERLAP
                            + ENCLOSURE
                            + DISTANCE
                            + """
                            loss = torch.rsub(torch.sub(iou, distance), 1.)
                            return torch.sum(torch.mul(loss, weight))
                            """);

    private static final Script CIOU =
            Script.compile(
                    SIGNATURE,
                    OVERLAP
                            + ENCLOSURE
                            + DISTANCE
                            + """
                            h_p = torch.add(torch.sub(p[3], p[1]), 1e-06)
                            h_t = torch.add(torch.sub(t[3], t[1]), 1e-06)
                            angle_p = torch.atan(torch.div(torch.sub(p[2], p[0]), h_p))
                            angle_t = torch.atan(torch.div(torch.sub(t[2], t[0]), h_t))
                            v = torch.mul(torch.pow(torch.sub(angle_t, angle_p), 2), FACTOR)
                            rest = torch.clamp(torch.add(torch.rsub(iou, 1.), v), 1e-16)
                            shape = torch.div(torch.pow(v, 2), rest)
                            loss = torch.rsub(torch.sub(iou, torch.add(distance, shape)), 1.)
                            return torch.sum(torch.mul(loss, weight))
                            """
                                    .replace("FACTOR", Double.toString(4 / (Math.PI * Math.PI))));

    private BoxLosses() {}

    /** Returns the sum of absolute differences; all arguments {@code [N, 4]}. */
    public static NDArray l1(NDArray pred, NDArray target, NDArray weight) {
        return L1.run(pred, target, weight);
    }

    /**
     * Returns the sum of absolute differences, squared where less than {@code beta}; all arguments
     * {@code [N, 4]}.
     */
    public static NDArray smoothL1(NDArray pred, NDArray target, NDArray weight, float beta) {
        try (NDArray threshold = Tensors.of(pred.getManager(), beta)) {
            return SMOOTH_L1.run(pred, target, weight, threshold);
        }
    }

    /**
     * Returns the sum of {@code -ln IoU}, the IoU at least 1e-6.
     *
     * @param pred {@code [N, 4]} corners
     * @param target {@code [N, 4]} corners
     * @param weight {@code [N]}
     */
    public static NDArray iou(NDArray pred, NDArray target, NDArray weight) {
        return IOU.run(pred, target, weight);
    }

    /** Returns the sum of {@code 1 - GIoU} (Rezatofighi et al. 2019); shapes as {@link #iou}. */
    public static NDArray giou(NDArray pred, NDArray target, NDArray weight) {
        return GIOU.run(pred, target, weight);
    }

    /** Returns the sum of {@code 1 - DIoU} (Zheng et al. 2020); shapes as {@link #iou}. */
    public static NDArray diou(NDArray pred, NDArray target, NDArray weight) {
        return DIOU.run(pred, target, weight);
    }

    /** Returns the sum of {@code 1 - CIoU} (Zheng et al. 2020); shapes as {@link #iou}. */
    public static NDArray ciou(NDArray pred, NDArray target, NDArray weight) {
        return CIOU.run(pred, target, weight);
    }
}
