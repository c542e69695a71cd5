package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.attention.ElsaAttention;

import java.util.Map;
import java.util.Optional;

/**
 * ELSA's operator on attention weights and on logits, with gradients. The first recorded axis,
 * images * heads, is used as heads of one image, as each has its own ghost head.
 */
final class ElsaOpKind implements Kind {

    @Override
    public void run(Case recorded) {
        Settings settings = recorded.settings();
        settings.describes("max_err_vs_tap_loop");
        settings.onlyClass("cls", "elsa_op");
        recorded.config().only("stride", 1);
        ElsaAttention attention = ElsaModuleKind.attention(recorded.config());
        NDArray features = recorded.tensor("features");
        NDArray mul = recorded.tensor("ghost_mul");
        NDArray add = recorded.tensor("ghost_add");
        NDArray weights = recorded.tensor("h_attn");
        NDArray logits = recorded.tensor("logits");
        Shape heads = features.getShape();
        Backward.compareOne(
                recorded,
                Map.of(
                        "features", features,
                        "ghost_mul", mul,
                        "ghost_add", add,
                        "h_attn", weights),
                () ->
                        maps(
                                attention.aggregate(
                                        tokens(features),
                                        tokens(weights),
                                        ghostHead(attention, mul, add)),
                                heads));
        Backward.compareOne(
                recorded,
                Map.of("logits", logits),
                () ->
                        maps(
                                attention.attend(
                                        tokens(features),
                                        tokens(logits),
                                        ghostHead(attention, mul, add)),
                                heads));
    }

    private static Optional<NDArray> ghostHead(ElsaAttention attention, NDArray mul, NDArray add) {
        NDArray active =
                attention.gamma() == 0
                        ? mul
                        : attention.lambda() == 0 ? add : NDArrays.stack(new NDList(mul, add));
        int channels = Math.toIntExact(mul.size() / attention.kernel() / attention.kernel());
        return attention.ghostHead(channels).map(active::reshape);
    }

    /** Converts {@code [heads, C, H, W]} to {@code [1, H, W, heads C]}. */
    private static NDArray tokens(NDArray maps) {
        Shape shape = maps.getShape();
        return maps.transpose(2, 3, 0, 1).reshape(1, shape.get(2), shape.get(3), -1);
    }

    /** Converts {@code [1, H, W, heads C]} to {@code [heads, C, H, W]}. */
    private static NDArray maps(NDArray tokens, Shape heads) {
        return tokens.reshape(heads.get(2), heads.get(3), heads.get(0), -1).transpose(2, 3, 0, 1);
    }
}
