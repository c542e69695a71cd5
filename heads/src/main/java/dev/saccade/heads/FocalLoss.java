package dev.saccade.heads;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.Script;

/**
 * Focal loss on sigmoids (Lin et al. 2017): cross entropy that easy examples hardly contribute to.
 *
 * <p>The loss and its gradient are computed together, in pieces that fit the cache; nothing of the
 * size of the logits is kept but the gradient.
 */
public final class FocalLoss {

    /** Elements worked on at once; a handful of such float buffers fit the cache of a core. */
    private static final int CHUNK = 1 << 16;

    private final Script script;

    /**
     * Makes a focal loss.
     *
     * @param gamma how fast easy examples fade, 2 in the paper
     * @param alpha weight of the labelled class against all others, 0.25 in the paper
     */
    public FocalLoss(double gamma, double alpha) {
        checkArgument(gamma >= 0, "gamma: got %s, expected at least 0", gamma);
        checkArgument(alpha > 0 && alpha < 1, "alpha: got %s, expected in (0, 1)", alpha);
        script =
                Script.compile(
                        "(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor",
                        TEXT.replace("GAMMA", Double.toString(gamma))
                                .replace("BETA", Double.toString(1 - alpha))
                                .replace("ALPHA", Double.toString(alpha))
                                .replace("CHUNK", Integer.toString(CHUNK)));
    }

    /**
     * With {@code z} the logit signed so that it should be large, {@code u = sigmoid(-z)}: the loss
     * is {@code -a u^gamma log(1 - u)} and its derivative by z is {@code a u^gamma (gamma (1 - u)
     * log(1 - u) - u)}. The last line adds 0 with the right gradient.
     */
    private static final String TEXT =
            """
            n = torch.size(logits, 0)
            c = torch.size(logits, 1)
            x = torch.detach(logits)
            grad = torch.empty([n, c], dtype=6, device=x.device)
            total = torch.zeros([], dtype=6, device=x.device)
            classes = torch.arange(c, dtype=3, device=x.device)
            rows = CHUNK // c + 1
            start = 0
            while start < n:
                end = torch.add(start, rows)
                if end > n:
                    end = n
                part = torch.slice(x, 0, start, end)
                weight = torch.unsqueeze(torch.slice(weights, 0, start, end), 1)
                label = torch.unsqueeze(torch.slice(labels, 0, start, end), 1)
                sign = torch.sub(torch.mul(torch.eq(label, classes), 2.0), 1.0)
                z = torch.mul(part, sign)
                log = torch.log_sigmoid(z)
                u = torch.sigmoid_(torch.neg_(z))
                scale = torch.mul_(torch.pow(u, GAMMA), weight)
                balance = torch.add(torch.mul(sign, (ALPHA - BETA) / 2.0), (ALPHA + BETA) / 2.0)
                scale = torch.mul_(scale, balance)
                total = torch.sub(total, torch.sum(torch.mul(scale, log)))
                slope = torch.mul_(torch.mul_(torch.rsub(u, 1.0), log), GAMMA)
                slope = torch.mul_(torch.mul_(torch.sub_(slope, u), scale), sign)
                out = torch.copy_(torch.slice(grad, 0, start, end), slope)
                start = end
            surrogate = torch.dot(torch.reshape(logits, [-1]), torch.reshape(grad, [-1]))
            return torch.add(total, torch.sub(surrogate, torch.detach(surrogate)))
            """;

    /**
     * Returns the sum of the loss over all boxes and classes, a scalar.
     *
     * @param logits {@code [N, C]} float32
     * @param labels {@code [N]} int32; C is background, for which all classes should be low
     * @param weights {@code [N]} float32 weight of each box
     */
    public NDArray sum(NDArray logits, NDArray labels, NDArray weights) {
        return script.run(logits, labels, weights);
    }
}
