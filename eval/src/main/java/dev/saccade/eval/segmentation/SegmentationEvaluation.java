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
 * @param ious mean IoU of each image by index; NaN if no pixel is labeled
 */
public record SegmentationEvaluation(
        SegmentationMetrics metrics, PixelConfusionMatrix confusion, ImmutableDoubleArray ious)
        implements Evaluation {

    /**
     * A pair of confused classes.
     *
     * @param fraction confused pixels as a fraction of all pixels of the true class, in (0, 1]
     */
    public record Confusion(String truth, String predicted, long pixels, double fraction) {}

    /** Returns the mean metrics by name; see {@link SegmentationMetrics#values}. */
    @Override
    public Map<String, Double> values() {
        return metrics.values();
    }

    @Override
    public List<Record> records() {
        return List.of(metrics);
    }

    public List<String> classes() {
        return metrics.perClass().stream().map(SegmentationClassMetrics::name).toList();
    }

    /** Returns all pairs of confused classes, most pixels first. */
    public List<Confusion> confusions() {
        List<String> names = classes();
        List<Confusion> confusions = new ArrayList<>();
        for (int truth = 0; truth < names.size(); truth++) {
            long all = confusion.truth(truth);
            for (int label = 0; label < names.size(); label++) {
                long pixels = confusion.count(truth, label);
                if (label != truth && pixels > 0) {
                    double fraction = (double) pixels / all;
                    confusions.add(
                            new Confusion(names.get(truth), names.get(label), pixels, fraction));
                }
            }
        }
        confusions.sort(Comparator.comparingLong(Confusion::pixels).reversed());
        return confusions;
    }
}
