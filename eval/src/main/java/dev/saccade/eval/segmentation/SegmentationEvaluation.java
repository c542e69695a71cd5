package dev.saccade.eval.segmentation;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.eval.Evaluation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Segmentation metrics of a data set.
 *
 * @param metrics how its label maps agree with the ground truth
 * @param confusion which class was taken for which
 * @param ious the mean IoU of each photograph alone, in their order; NaN where nothing is labeled
 */
public record SegmentationEvaluation(
        SegmentationMetrics metrics, PixelConfusion confusion, ImmutableDoubleArray ious)
        implements Evaluation {

    /**
     * One confusion.
     *
     * @param truth the name of the class of the pixels
     * @param predicted the name of the class they were taken for
     * @param pixels how many
     * @param share of the pixels of their class, above 0 to 1
     */
    public record Confusion(String truth, String predicted, long pixels, double share) {}

    /** Returns the means by name, see {@link SegmentationMetrics#values}. */
    @Override
    public Map<String, Double> values() {
        return metrics.values();
    }

    /** Returns the names of the classes, in the order of their labels. */
    public List<String> classes() {
        return metrics.perClass().stream().map(ClassOverlap::name).toList();
    }

    /** Returns the classes that are taken for each other, those of most pixels first. */
    public List<Confusion> confusions() {
        List<String> names = classes();
        List<Confusion> confusions = new ArrayList<>();
        for (int truth = 0; truth < names.size(); truth++) {
            long all = confusion.truth(truth);
            for (int label = 0; label < names.size(); label++) {
                long pixels = confusion.count(truth, label);
                if (label != truth && pixels > 0) {
                    double share = (double) pixels / all;
                    confusions.add(
                            new Confusion(names.get(truth), names.get(label), pixels, share));
                }
            }
        }
        confusions.sort(Comparator.comparingLong(Confusion::pixels).reversed());
        return confusions;
    }
}
