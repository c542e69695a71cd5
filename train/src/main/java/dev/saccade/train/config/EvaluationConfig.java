package dev.saccade.train.config;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.eval.Evaluator;

import java.util.List;
import java.util.Optional;

/**
 * When and how to evaluate. The final model is always evaluated.
 *
 * @param monitor metric that selects the best checkpoint, such as {@code mask_AP}; higher is
 *     better; by default {@code AP} of boxes, {@code mIoU} or {@code top1}, depending on the first
 *     evaluator
 * @param patience early stopping: number of consecutive evaluations without a new best; off by
 *     default
 * @param evaluators by default {@code coco} for a detector, {@code mean_iou} for a segmenter and
 *     {@code accuracy} for a classifier
 */
public record EvaluationConfig(
        Interval every,
        Optional<String> monitor,
        Optional<Integer> patience,
        @Default("[]") List<Evaluator.Config> evaluators) {

    public EvaluationConfig {
        evaluators = List.copyOf(evaluators);
        new Checks()
                .inRange("patience", patience, 1, 1_000_000)
                .size("evaluators", evaluators, 0, 100)
                .throwIfAny();
    }
}
