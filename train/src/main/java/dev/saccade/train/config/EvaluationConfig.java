package dev.saccade.train.config;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;
import dev.saccade.eval.Evaluator;

import java.util.List;
import java.util.Optional;

/**
 * When to evaluate, and what counts; there is also an evaluation at the end of a run.
 *
 * @param every how often
 * @param monitor the metric by which the best checkpoint is told, such as {@code mask_AP}; higher
 *     is better; by default that of the first evaluator: {@code AP} of boxes, or {@code mIoU} of
 *     label maps
 * @param patience ends the run after so many evaluations in a row without a new best; never by
 *     default
 * @param evaluators what measures, their metrics joined; by default {@code coco} for a detector and
 *     {@code mean_iou} for a segmenter
 */
public record EvaluationConfig(
        Interval every,
        Optional<String> monitor,
        Optional<Integer> patience,
        @Default("[]") List<Evaluator.Config> evaluators) {

    /** Checks the values. */
    public EvaluationConfig {
        evaluators = List.copyOf(evaluators);
        new Checks()
                .inRange("patience", patience, 1, 1_000_000)
                .size("evaluators", evaluators, 0, 100)
                .throwIfAny();
    }
}
