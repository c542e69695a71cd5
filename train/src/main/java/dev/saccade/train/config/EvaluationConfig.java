package dev.saccade.train.config;

import dev.saccade.core.Checks;

import java.util.Optional;

/**
 * When to evaluate, and what counts; there is also an evaluation at the end of a run.
 *
 * @param every how often
 * @param monitor the metric by which the best checkpoint is told, such as {@code mask_AP}; higher
 *     is better; by default {@code AP} of boxes, or {@code mIoU} of label maps
 * @param patience ends the run after so many evaluations in a row without a new best; never by
 *     default
 */
public record EvaluationConfig(
        Interval every, Optional<String> monitor, Optional<Integer> patience) {

    /** After each epoch. */
    public EvaluationConfig() {
        this(new Interval(), Optional.empty(), Optional.empty());
    }

    /** Checks the values. */
    public EvaluationConfig {
        new Checks().within("patience", patience, 1, 1_000_000).throwIfAny();
    }
}
