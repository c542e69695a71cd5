package dev.saccade.parity;

import ai.djl.ndarray.NDArray;

import dev.saccade.heads.classification.BinaryCrossEntropy;
import dev.saccade.heads.classification.ImageLoss;
import dev.saccade.heads.classification.SoftCrossEntropy;

import java.util.List;
import java.util.Optional;

/** Losses of classifiers and their gradients. */
final class ImageLossKind implements Kind {

    private static final Tolerance VALUE = new Tolerance(0, 0, 1e-5);
    private static final Tolerance GRADIENT = new Tolerance(0, 1e-6, 1e-5);

    @Override
    public void run(Case recorded) {
        List<Settings> draws = recorded.settings().objects("draws");
        for (int k = 0; k < draws.size(); k++) {
            Settings draw = draws.get(k);
            ImageLoss loss = loss(draw);
            NDArray logits = recorded.tensor("logits");
            NDArray targets = recorded.tensor(draw.text("targets"));
            logits.setRequiresGradient(true);
            NDArray value = Backward.run(() -> loss.loss(logits, targets));
            recorded.compare("value" + k, value.reshape(1), VALUE);
            recorded.compare("grad" + k, logits.getGradient(), GRADIENT);
        }
    }

    private static ImageLoss loss(Settings draw) {
        double smoothing = draw.number("smoothing", 0);
        return switch (draw.text("loss")) {
            case "soft" -> new SoftCrossEntropy(smoothing);
            case "binary" ->
                    new BinaryCrossEntropy(
                            smoothing,
                            draw.has("threshold")
                                    ? Optional.of(draw.number("threshold"))
                                    : Optional.empty(),
                            draw.flag("sum_classes", false));
            default -> throw draw.unbuilt("loss");
        };
    }
}
