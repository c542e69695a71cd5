package dev.saccade.eval.classification;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Ints;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Confusion matrix of classified images.
 *
 * @param counts {@code [K, K]}, true class by predicted class
 */
public record ImageConfusionMatrix(List<String> classes, List<List<Integer>> counts) {

    /** A pair of confused classes. */
    public record Confusion(String truth, String predicted, int images) {}

    /** Precision and recall of a class; NaN if no image is predicted as, or has, the class. */
    public record ClassAccuracy(String name, int images, double precision, double recall) {

        /** Returns the harmonic mean of precision and recall; NaN if either is undefined. */
        public double f1() {
            return precision + recall == 0 ? 0 : 2 * precision * recall / (precision + recall);
        }
    }

    public ImageConfusionMatrix {
        classes = ImmutableList.copyOf(classes);
        counts =
                counts.stream().map(ImmutableList::copyOf).collect(ImmutableList.toImmutableList());
    }

    static ImageConfusionMatrix of(List<String> classes, int[] truth, int[] predicted) {
        int[][] counts = new int[classes.size()][classes.size()];
        for (int i = 0; i < truth.length; i++) {
            counts[truth[i]][predicted[i]]++;
        }
        List<List<Integer>> rows = new ArrayList<>();
        for (int[] row : counts) {
            rows.add(Ints.asList(row));
        }
        return new ImageConfusionMatrix(classes, rows);
    }

    public int count(int truth, int predicted) {
        return counts.get(truth).get(predicted);
    }

    /** Returns precision and recall of each class. */
    public List<ClassAccuracy> perClass() {
        ImmutableList.Builder<ClassAccuracy> all = ImmutableList.builder();
        for (int label = 0; label < classes.size(); label++) {
            int images = 0;
            int predicted = 0;
            for (int other = 0; other < classes.size(); other++) {
                images += count(label, other);
                predicted += count(other, label);
            }
            int right = count(label, label);
            all.add(
                    new ClassAccuracy(
                            classes.get(label),
                            images,
                            ratio(right, predicted),
                            ratio(right, images)));
        }
        return all.build();
    }

    private static double ratio(int part, int whole) {
        return whole == 0 ? Double.NaN : (double) part / whole;
    }

    /** Returns all pairs of confused classes, most images first. */
    public List<Confusion> confusions() {
        List<Confusion> confusions = new ArrayList<>();
        for (int truth = 0; truth < classes.size(); truth++) {
            for (int label = 0; label < classes.size(); label++) {
                if (truth != label && count(truth, label) > 0) {
                    confusions.add(
                            new Confusion(
                                    classes.get(truth), classes.get(label), count(truth, label)));
                }
            }
        }
        confusions.sort(Comparator.comparingInt(Confusion::images).reversed());
        return confusions;
    }
}
