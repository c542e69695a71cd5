package dev.saccade.heads.box;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.ScriptTemplate;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.core.structures.Boxes;

import java.util.List;
import java.util.Map;

/**
 * The change from one box to another as {@code (dx, dy, dw, dh)}: center shift over size, logarithm
 * of the size ratio, normalized by mean and standard deviation (R-CNN, Girshick et al. 2014).
 *
 * @param means of the four numbers
 * @param stds of the four numbers
 */
@Part("delta_xywh")
public record DeltaXywhBoxCoder(
        @Default("[0.0, 0.0, 0.0, 0.0]") List<Double> means,
        @Default("[1.0, 1.0, 1.0, 1.0]") List<Double> stds)
        implements BoxCoder {

    /** Sizes change at most by this factor when decoding, {@code 1000 / 16} in mmdetection. */
    private static final double MAX_SIZE_RATIO = 1000.0 / 16;

    private static final ScriptTemplate DECODE =
            ScriptTemplate.of(
                    "(deltas: Tensor, boxes: Tensor) -> Tensor",
                    """
                    mean = {means}
                    std = {stds}
                    most = {max_ratio}
                    d = torch.unbind(deltas, 1)
                    b = torch.unbind(boxes, 1)
                    w = torch.sub(b[2], b[0])
                    h = torch.sub(b[3], b[1])
                    dx = torch.add(torch.mul(d[0], std[0]), mean[0])
                    dy = torch.add(torch.mul(d[1], std[1]), mean[1])
                    dw = torch.clamp(torch.add(torch.mul(d[2], std[2]), mean[2]), -most, most)
                    dh = torch.clamp(torch.add(torch.mul(d[3], std[3]), mean[3]), -most, most)
                    x = torch.add(torch.mul(torch.add(b[0], b[2]), 0.5), torch.mul(w, dx))
                    y = torch.add(torch.mul(torch.add(b[1], b[3]), 0.5), torch.mul(h, dy))
                    rx = torch.mul(torch.mul(w, torch.exp(dw)), 0.5)
                    ry = torch.mul(torch.mul(h, torch.exp(dh)), 0.5)
                    x1 = torch.sub(x, rx)
                    y1 = torch.sub(y, ry)
                    x2 = torch.add(x, rx)
                    y2 = torch.add(y, ry)
                    return torch.stack([x1, y1, x2, y2], 1)
                    """);

    /** Checks the values. */
    public DeltaXywhBoxCoder {
        means = ImmutableList.copyOf(means);
        stds = ImmutableList.copyOf(stds);
        new Checks()
                .size("means", means, 4, 4)
                .each("means", means, -1000, 1000)
                .size("stds", stds, 4, 4)
                .each("stds", stds, 1e-6, 1000)
                .throwIfAny();
    }

    /** {@inheritDoc} A box without area gives infinite numbers. */
    @Override
    public float[] encode(Boxes boxes, Boxes targets) {
        checkArgument(boxes.size() == targets.size(), "as many targets as boxes");
        float[] deltas = new float[4 * boxes.size()];
        for (int i = 0; i < boxes.size(); i++) {
            float width = boxes.width(i);
            float height = boxes.height(i);
            deltas[4 * i] =
                    ((targets.x1(i) + targets.x2(i)) * 0.5f - (boxes.x1(i) + boxes.x2(i)) * 0.5f)
                            / width;
            deltas[4 * i + 1] =
                    ((targets.y1(i) + targets.y2(i)) * 0.5f - (boxes.y1(i) + boxes.y2(i)) * 0.5f)
                            / height;
            deltas[4 * i + 2] = (float) Math.log(targets.width(i) / width);
            deltas[4 * i + 3] = (float) Math.log(targets.height(i) / height);
        }
        for (int i = 0; i < deltas.length; i++) {
            deltas[i] = (deltas[i] - means.get(i % 4).floatValue()) / stds.get(i % 4).floatValue();
        }
        return deltas;
    }

    @Override
    public Boxes decode(Boxes boxes, float[] deltas) {
        checkArgument(
                deltas.length % Math.max(4 * boxes.size(), 4) == 0,
                "%s numbers do not fit %s boxes",
                deltas.length,
                boxes.size());
        float limit = (float) Math.log(MAX_SIZE_RATIO);
        float[] decoded = new float[deltas.length];
        int perBox = boxes.isEmpty() ? 1 : deltas.length / 4 / boxes.size();
        for (int k = 0; k < deltas.length / 4; k++) {
            int i = k / perBox;
            float dw = Math.max(-limit, Math.min(limit, denormalized(deltas, 4 * k + 2)));
            float dh = Math.max(-limit, Math.min(limit, denormalized(deltas, 4 * k + 3)));
            float halfWidth = boxes.width(i) * (float) Math.exp(dw) * 0.5f;
            float halfHeight = boxes.height(i) * (float) Math.exp(dh) * 0.5f;
            float x =
                    (boxes.x1(i) + boxes.x2(i)) * 0.5f
                            + boxes.width(i) * denormalized(deltas, 4 * k);
            float y =
                    (boxes.y1(i) + boxes.y2(i)) * 0.5f
                            + boxes.height(i) * denormalized(deltas, 4 * k + 1);
            decoded[4 * k] = x - halfWidth;
            decoded[4 * k + 1] = y - halfHeight;
            decoded[4 * k + 2] = x + halfWidth;
            decoded[4 * k + 3] = y + halfHeight;
        }
        return Boxes.of(decoded);
    }

    @Override
    public NDArray decode(NDArray boxes, NDArray deltas) {
        return DECODE.with(
                        Map.of(
                                "means", means,
                                "stds", stds,
                                "max_ratio", Math.log(MAX_SIZE_RATIO)))
                .run(deltas, boxes);
    }

    private float denormalized(float[] deltas, int i) {
        return deltas[i] * stds.get(i % 4).floatValue() + means.get(i % 4).floatValue();
    }
}
