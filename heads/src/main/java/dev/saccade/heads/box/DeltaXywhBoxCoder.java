package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.List;
import java.util.Map;

/**
 * Encodes boxes as normalized {@code (dx, dy, dw, dh)} (R-CNN, Girshick et al. 2014).
 *
 * @param clipShrinking whether decoding also limits how much sides shrink, as in mmdetection;
 *     torchvision and detectron2 only limit how much they grow
 */
@Component("delta_xywh")
public record DeltaXywhBoxCoder(
        @Default("[0.0, 0.0, 0.0, 0.0]") List<Double> targetMeans,
        @Default("[1.0, 1.0, 1.0, 1.0]") List<Double> targetStds,
        @Default("true") boolean clipShrinking)
        implements BoxCoder {

    /** Decoding scales sides by at most this factor or its inverse. */
    private static final double MAX_SIZE_RATIO = 1000.0 / 16;

    private static final ScriptTemplate ENCODE =
            ScriptTemplate.of(
                    "(boxes: Tensor, targets: Tensor) -> Tensor",
                    """
                    mean = {means}
                    std = {stds}
                    b = torch.unbind(boxes, 1)
                    t = torch.unbind(targets, 1)
                    w = torch.sub(b[2], b[0])
                    h = torch.sub(b[3], b[1])
                    x = torch.sub(torch.mul(torch.add(t[0], t[2]), 0.5), torch.mul(torch.add(b[0], b[2]), 0.5))
                    y = torch.sub(torch.mul(torch.add(t[1], t[3]), 0.5), torch.mul(torch.add(b[1], b[3]), 0.5))
                    dx = torch.div(x, w)
                    dy = torch.div(y, h)
                    dw = torch.log(torch.div(torch.sub(t[2], t[0]), w))
                    dh = torch.log(torch.div(torch.sub(t[3], t[1]), h))
                    return torch.stack([
                        torch.div(torch.sub(dx, mean[0]), std[0]),
                        torch.div(torch.sub(dy, mean[1]), std[1]),
                        torch.div(torch.sub(dw, mean[2]), std[2]),
                        torch.div(torch.sub(dh, mean[3]), std[3])], 1)
                    """);

    private static final ScriptTemplate DECODE =
            ScriptTemplate.of(
                    "(deltas: Tensor, boxes: Tensor) -> Tensor",
                    """
                    mean = {means}
                    std = {stds}
                    least = {min_ratio}
                    most = {max_ratio}
                    d = torch.unbind(deltas, -1)
                    b = torch.unbind(boxes, -1)
                    w = torch.sub(b[2], b[0])
                    h = torch.sub(b[3], b[1])
                    dx = torch.add(torch.mul(d[0], std[0]), mean[0])
                    dy = torch.add(torch.mul(d[1], std[1]), mean[1])
                    dw = torch.clamp(torch.add(torch.mul(d[2], std[2]), mean[2]), least, most)
                    dh = torch.clamp(torch.add(torch.mul(d[3], std[3]), mean[3]), least, most)
                    x = torch.add(torch.mul(torch.add(b[0], b[2]), 0.5), torch.mul(w, dx))
                    y = torch.add(torch.mul(torch.add(b[1], b[3]), 0.5), torch.mul(h, dy))
                    rx = torch.mul(torch.mul(w, torch.exp(dw)), 0.5)
                    ry = torch.mul(torch.mul(h, torch.exp(dh)), 0.5)
                    x1 = torch.sub(x, rx)
                    y1 = torch.sub(y, ry)
                    x2 = torch.add(x, rx)
                    y2 = torch.add(y, ry)
                    return torch.stack([x1, y1, x2, y2], -1)
                    """);

    public DeltaXywhBoxCoder {
        targetMeans = ImmutableList.copyOf(targetMeans);
        targetStds = ImmutableList.copyOf(targetStds);
        new Checks()
                .size("target_means", targetMeans, 4, 4)
                .each("target_means", targetMeans, -1000, 1000)
                .size("target_stds", targetStds, 4, 4)
                .each("target_stds", targetStds, 1e-6, 1000)
                .throwIfAny();
    }

    /** {@inheritDoc} Boxes with zero area yield infinite or NaN deltas. */
    @Override
    public NDArray encode(NDArray boxes, NDArray targets) {
        return ENCODE.with(Map.of("means", targetMeans, "stds", targetStds)).run(boxes, targets);
    }

    @Override
    public NDArray decode(NDArray boxes, NDArray deltas) {
        double most = Math.log(MAX_SIZE_RATIO);
        return DECODE.with(
                        Map.of(
                                "means", targetMeans,
                                "stds", targetStds,
                                "min_ratio", clipShrinking ? -most : -Float.MAX_VALUE,
                                "max_ratio", most))
                .run(deltas, boxes);
    }
}
