package dev.saccade.eval.classification;

import com.google.common.collect.ImmutableList;

import dev.saccade.eval.classification.ImageConfusionMatrix.ClassAccuracy;

import java.util.List;

/**
 * Metrics of classified images, from 0 to 1.
 *
 * @param top5 1 with up to 5 classes
 * @param calibrationError expected calibration error of the predicted classes
 */
public record ClassificationMetrics(
        double top1, double top5, double calibrationError, List<ClassAccuracy> perClass) {

    public ClassificationMetrics {
        perClass = ImmutableList.copyOf(perClass);
    }
}
