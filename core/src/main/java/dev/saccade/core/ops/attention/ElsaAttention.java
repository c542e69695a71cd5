package dev.saccade.core.ops.attention;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;

import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Neighborhood attention with a ghost head (Zhou et al. 2021, "ELSA", Eq. 5 and Algorithm 1; {@code
 * elsa_op} of the official code):
 *
 * <pre>{@code
 * y[c, p] = sum_o (mul[c, o]^lambda a[g(c), o, p] + gamma add[c, o]) v[c, p + dilation o]
 * }</pre>
 *
 * <p>over the row-major offsets {@code o} of a square, with the softmax {@code a} of the logits and
 * the ghost head {@code mul}, {@code add}. Offsets outside the map have value 0, but are part of
 * the softmax. The channels of a group {@code g} are contiguous, as in the official code; the paper
 * interleaves groups.
 *
 * <p>Values are never copied per offset. The portable version arranges weights as band matrices,
 * which take about three times the memory of the values in training. With {@code lambda != 0},
 * which no published model uses, it is slower, because it does not use matrix products.
 *
 * @param kernel side of the square, odd
 * @param lambda exponent of the ghost head's factors; 0 for none
 * @param gamma factor of the ghost head's summands; 0 for none
 */
public record ElsaAttention(int kernel, int dilation, double lambda, double gamma) {

    private static final ScriptTemplate BANDS = ScriptTemplate.read(ElsaAttention.class, "bands");

    private static final ScriptTemplate TAPS = ScriptTemplate.read(ElsaAttention.class, "taps");

    private static final ScriptTemplate MODULATED =
            ScriptTemplate.read(ElsaAttention.class, "modulated");

    public ElsaAttention {
        checkArgument(kernel > 0 && kernel % 2 == 1, "kernel: got %s, expected odd", kernel);
        checkArgument(dilation > 0, "dilation: got %s, expected > 0", dilation);
    }

    /**
     * Returns the shape of the ghost head: {@code [2, 1, C, K, K]} for factors and summands, {@code
     * [1, C, K, K]} for one of them; empty for neither.
     */
    public Optional<Shape> ghostHead(int channels) {
        Shape one = new Shape(1, channels, kernel, kernel);
        if (lambda != 0 && gamma != 0) {
            return Optional.of(new Shape(2).addAll(one));
        }
        return lambda != 0 || gamma != 0 ? Optional.of(one) : Optional.empty();
    }

    /**
     * Applies attention.
     *
     * @param values {@code [N, H, W, C]}, like the result
     * @param logits {@code [N, H, W, G K^2]}
     */
    public NDArray attend(NDArray values, NDArray logits, Optional<NDArray> ghostHead) {
        return Kernels.isFusedFor(values)
                ? fused(values, logits, ghostHead)
                : portable(values, logits, ghostHead);
    }

    NDArray portable(NDArray values, NDArray logits, Optional<NDArray> ghostHead) {
        Shape map = logits.getShape();
        NDArray taps = logits.reshape(map.slice(0, 3).add(-1, (long) kernel * kernel));
        return aggregate(values, Functional.softmax(taps, -1).reshape(map), ghostHead);
    }

    NDArray fused(NDArray values, NDArray logits, Optional<NDArray> ghostHead) {
        int summands = (lambda == 0 ? 1 : 2) + (gamma == 0 ? 0 : 1);
        NDArray mul = lambda == 0 ? null : Script.call("torch.pow", flat(ghostHead, 0), lambda);
        NDArray add = gamma == 0 ? null : Functional.mul(flat(ghostHead, 1), gamma);
        Object[] inputs = {values, logits, mul, add, kernel, dilation};
        return counted(summands, values, () -> Script.call("ops.saccade.elsa_attention", inputs));
    }

    /** Runs an operator; counts {@code products} multiply-adds per value and offset. */
    private NDArray counted(int products, NDArray values, Supplier<NDArray> operator) {
        return MultiplyAdds.run(
                products * values.size() * kernel * kernel, values, values.getShape(), operator);
    }

    /** Sums values {@code [N, H, W, C]}, weighted by {@code weights [N, H, W, G K^2]}. */
    public NDArray aggregate(NDArray values, NDArray weights, Optional<NDArray> ghostHead) {
        NDArray y =
                lambda == 0
                        ? sums(values, weights)
                        : modulated(values, weights, part(ghostHead, 0));
        return gamma == 0 ? y : withStatic(y, values, part(ghostHead, 1));
    }

    private NDArray part(Optional<NDArray> ghostHead, int index) {
        NDArray all = ghostHead.orElseThrow();
        return lambda != 0 && gamma != 0 ? all.get(index) : all;
    }

    private NDArray flat(Optional<NDArray> ghostHead, int index) {
        return part(ghostHead, index).reshape(-1, (long) kernel * kernel);
    }

    private NDArray sums(NDArray values, NDArray weights) {
        ScriptTemplate form = Tracer.isRecording() ? TAPS : BANDS;
        Script script = form.with(Map.of("kernel", kernel, "dilation", dilation));
        return counted(1, values, () -> script.run(values, weights));
    }

    private NDArray modulated(NDArray values, NDArray weights, NDArray mul) {
        Map<String, ?> constants = Map.of("kernel", kernel, "dilation", dilation, "lambda", lambda);
        return counted(2, values, () -> MODULATED.with(constants).run(values, weights, mul));
    }

    private NDArray withStatic(NDArray y, NDArray values, NDArray add) {
        int channels = (int) values.getShape().get(3);
        NDArray filter = Functional.mul(add.reshape(channels, 1, kernel, kernel), gamma);
        NDArray maps = values.transpose(0, 3, 1, 2);
        int reach = kernel / 2 * dilation;
        return Functional.conv2d(maps, filter, null, 1, reach, dilation, channels)
                .addi(y.transpose(0, 3, 1, 2))
                .transpose(0, 2, 3, 1);
    }
}
