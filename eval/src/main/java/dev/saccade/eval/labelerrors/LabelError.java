package dev.saccade.eval.labelerrors;

import dev.saccade.datasets.Annotation;

import java.util.Optional;

/**
 * A suspected label error.
 *
 * @param image index of the image in the data set
 * @param score from 0 to 1, comparable among all kinds; higher is more suspicious
 * @param label the suspected label; empty if it is missing
 * @param prediction the conflicting detection; empty for a spurious label
 */
public record LabelError(
        int image,
        LabelErrorKind kind,
        double score,
        Optional<Annotation> label,
        Optional<Prediction> prediction) {

    /** A detection; {@code label} is its class index. */
    public record Prediction(int label, double score, Annotation.Bbox box) {}
}
