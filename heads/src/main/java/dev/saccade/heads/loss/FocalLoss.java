package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/**
 * Sigmoid focal loss (Lin et al. 2017); {@code alpha} weights positives, 1 - alpha negatives.
 *
 * <p>Loss and gradient are computed together in chunks that fit the cache; the gradient is the only
 * temporary array with the size of the logits.
 */
@Component("focal")
public record FocalLoss(
        @Default("2") double gamma, @Default("0.25") double alpha, @Default("1") double lossWeight)
        implements ClassificationLoss {

    /** Elements per chunk; a few float buffers of this size fit the cache of a core. */
    private static final int CHUNK = 1 << 16;

    /**
     * With {@code z = logit}, {@code a = alpha} for positives, {@code z = -logit}, {@code a = 1 -
     * alpha} for negatives, and {@code u = sigmoid(-z)}: the loss is {@code -a u^gamma log(1 - u)};
     * its derivative with respect to z is {@code a u^gamma (gamma (1 - u) log(1 - u) - u)}. The
     * last line adds 0 to attach that gradient.
     */
    private static final ScriptTemplate SCRIPT =
            ScriptTemplate.of(
                    "(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor",
                    """
                    n = torch.size(logits, 0)
                    c = torch.size(logits, 1)
                    x = torch.detach(logits)
                    grad = torch.empty([n, c], dtype=6, device=x.device)
                    total = torch.zeros([], dtype=6, device=x.device)
                    classes = torch.arange(c, dtype=3, device=x.device)
                    rows = {chunk} // c + 1
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
                        scale = torch.mul_(torch.pow(u, {gamma}), weight)
                        balance = torch.mul(sign, ({alpha} - {beta}) / 2.0)
                        balance = torch.add(balance, ({alpha} + {beta}) / 2.0)
                        scale = torch.mul_(scale, balance)
                        total = torch.sub(total, torch.sum(torch.mul(scale, log)))
                        slope = torch.mul_(torch.mul_(torch.rsub(u, 1.0), log), {gamma})
                        slope = torch.mul_(torch.mul_(torch.sub_(slope, u), scale), sign)
                        out = torch.copy_(torch.slice(grad, 0, start, end), slope)
                        start = end
                    surrogate = torch.dot(torch.reshape(logits, [-1]), torch.reshape(grad, [-1]))
                    return torch.add(total, torch.sub(surrogate, torch.detach(surrogate)))
                    """);

    public FocalLoss {
        new Checks()
                .inRange("gamma", gamma, 0, 100)
                .inRange("alpha", alpha, 0, 1)
                .inRange("loss_weight", lossWeight, 0, 1e6)
                .throwIfAny();
    }

    @Override
    public NDArray sum(NDArray logits, NDArray labels, NDArray weights) {
        Script script =
                SCRIPT.with(
                        Map.of("gamma", gamma, "alpha", alpha, "beta", 1 - alpha, "chunk", CHUNK));
        return Functional.mul(script.run(logits, labels, weights), (float) lossWeight);
    }
}
