package dev.saccade.examples.components;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.components.Component;
import dev.saccade.core.ops.script.Script;
import dev.saccade.heads.loss.ClassificationLoss;

/** Squared error of probabilities (Brier 1950). */
@Component("brier")
public record BrierLoss() implements ClassificationLoss {

    private static final Script SUM =
            Script.compile(
                    "(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor",
                    """
                    classes = torch.arange(torch.size(logits, 1), device=logits.device)
                    truth = torch.eq(torch.unsqueeze(labels, 1), classes)
                    wrong = torch.sub(torch.sigmoid(logits), torch.type_as(truth, logits))
                    return torch.sum(torch.mul(torch.pow(wrong, 2), torch.unsqueeze(weights, 1)))
                    """);

    @Override
    public NDArray sum(NDArray logits, NDArray labels, NDArray weights) {
        return SUM.run(logits, labels, weights);
    }
}
