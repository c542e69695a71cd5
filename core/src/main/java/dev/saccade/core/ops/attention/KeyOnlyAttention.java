package dev.saccade.core.ops.attention;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.Tracer;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Key-only attention (LinGlo, "Rethinking Query-Key Pairwise Interactions in Vision Transformers"),
 * whose cost is linear in the number of tokens.
 *
 * <p>Keys are {@code K = X Wk^T + bk} and values {@code V = X Wv^T + bv}, in heads of {@code d}
 * channels. {@code G} is the mean key, weighted by the softmax of {@code K w / sqrt(d)} over all
 * tokens. The result is {@code ((G V) U1^T + b1 + K) U2^T + b2}.
 *
 * <p>Everything after the softmax is linear in each token. For many tokens, the four products are
 * therefore merged into one with a matrix per image, {@code U2 (U1 diag(G) Wv + Wk)}, and neither
 * keys nor values are stored. The bias of the keys cancels in the softmax. The fused operator
 * computes {@code G} in one pass and shares {@code U2 U1} and {@code U2 Wk} among images.
 */
public final class KeyOnlyAttention {

    private static final String GATE =
            """
            n = torch.size(x, 0)
            c = torch.size(x, 3)
            tokens = torch.flatten(x, 1, 2)
            d = torch.size(w, 1)
            heads = torch.reshape(wk, [-1, d, c])
            saliency = torch.sum(heads * torch.unsqueeze(w * (d ** -0.5), 2), [1])
            attention = torch.softmax(torch.matmul(tokens, torch.t(saliency)), 1)
            mean = torch.matmul(torch.transpose(attention, 1, 2), tokens)
            keys = torch.matmul(heads, torch.unsqueeze(mean, 3))
            g = torch.reshape(keys, [n, 1, c]) + bk
            """;

    /** Computes keys and values of every token. */
    static final Form FOUR_PRODUCTS =
            portable(
                    """
                    gated = torch.linear(tokens, wv, bv) * g
                    y = torch.linear(gated, u1, b1) + torch.linear(tokens, wk, bk)
                    return torch.reshape(torch.linear(y, u2, b2), torch.size(x))
                    """);

    /** Uses one product with a matrix per image. */
    static final Form ONE_PRODUCT =
            portable(
                    """
                    m = torch.matmul(u2, torch.matmul(u1 * g, wv) + wk)
                    b = torch.linear(torch.linear(g * bv, u1, b1 + bk), u2, b2)
                    y = torch.baddbmm(b, tokens, torch.transpose(m, 1, 2))
                    return torch.reshape(y, torch.size(x))
                    """);

    /** The fused operator, which chooses the cheaper algorithm. */
    static final Form FUSED = KeyOnlyAttention::fused;

    /** An algorithm; all return the same result. */
    @FunctionalInterface
    interface Form {
        NDArray run(NDArray x, NDArray saliency, List<NDArray> weights, List<NDArray> biases);
    }

    private KeyOnlyAttention() {}

    /**
     * Applies attention with the cheapest algorithm; counts multiply-adds as for four products.
     *
     * @param x {@code [N, H, W, C]}, like the result
     * @param saliency w, {@code [heads, C / heads]}
     * @param weights Wk, Wv, U1 and U2, each {@code [C, C]}, output by input
     * @param biases bk, bv, b1 and b2, each {@code [C]}; empty for no bias
     */
    public static NDArray attend(
            NDArray x, NDArray saliency, List<NDArray> weights, List<NDArray> biases) {
        checkArgument(weights.size() == 4, "weights: got %s, expected 4", weights.size());
        checkArgument(
                biases.isEmpty() || biases.size() == 4,
                "biases: got %s, expected none or 4",
                biases.size());
        Shape map = x.getShape();
        long channels = map.get(3);
        Form form = Kernels.isFusedFor(x) ? FUSED : portable(map.get(1) * map.get(2), channels);
        return MultiplyAdds.run(
                x.size() * (4 * channels + 3),
                x,
                map,
                () -> form.run(x, saliency, weights, biases));
    }

    private static NDArray fused(
            NDArray x, NDArray saliency, List<NDArray> weights, List<NDArray> biases) {
        Object[] inputs = all(x, saliency, weights, biases, null);
        return Script.call("ops.saccade.key_only_attention", inputs);
    }

    private static Form portable(String body) {
        Script script =
                Script.compile(
                        "(x: Tensor, w: Tensor, wk: Tensor, wv: Tensor, u1: Tensor, u2: Tensor,"
                                + " bk: Tensor, bv: Tensor, b1: Tensor, b2: Tensor) -> Tensor",
                        GATE + body);
        return (x, saliency, weights, biases) -> {
            NDArray none = weights.get(0).get(0).zerosLike();
            return script.run(all(x, saliency, weights, biases, none));
        };
    }

    private static NDArray[] all(
            NDArray x,
            NDArray saliency,
            List<NDArray> weights,
            List<NDArray> biases,
            NDArray noBias) {
        List<NDArray> inputs = new ArrayList<>(List.of(x, saliency));
        inputs.addAll(weights);
        inputs.addAll(biases.isEmpty() ? Collections.nCopies(4, noBias) : biases);
        return inputs.toArray(NDArray[]::new);
    }

    /**
     * Returns the cheaper form: for L tokens, one L x C x C and two C x C x C products, or four L x
     * C x C products. While tracing, always the first.
     */
    static Form portable(long tokens, long channels) {
        return Tracer.isRecording() || 3 * tokens > 2 * channels ? ONE_PRODUCT : FOUR_PRODUCTS;
    }
}
