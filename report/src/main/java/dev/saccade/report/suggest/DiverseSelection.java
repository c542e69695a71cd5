package dev.saccade.report.suggest;

import com.google.common.primitives.ImmutableDoubleArray;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Selects images that are uncertain and differ from each other: first the most uncertain image,
 * then always the image with the highest product of its uncertainty and its distance to the nearest
 * selected image. Near-duplicates of selected images therefore come last.
 */
public final class DiverseSelection {

    private final List<Candidate> candidates;
    private final double[][] embeddings;

    /** Distance to the nearest selected image. */
    private final double[] distances;

    private final boolean[] isSelected;

    private DiverseSelection(List<Candidate> images) {
        this.candidates =
                images.stream()
                        .sorted(
                                Comparator.comparingDouble(Candidate::uncertainty)
                                        .reversed()
                                        .thenComparing(Candidate::name))
                        .toList();
        this.embeddings = standardized(candidates);
        this.distances = new double[candidates.size()];
        this.isSelected = new boolean[candidates.size()];
        Arrays.fill(distances, 1);
    }

    /** Returns at most {@code count} images, the most useful first. */
    public static List<Candidate> select(List<Candidate> images, int count) {
        DiverseSelection selection = new DiverseSelection(images);
        List<Candidate> selected = new ArrayList<>();
        while (selected.size() < Math.min(count, images.size())) {
            selected.add(selection.next());
        }
        return selected;
    }

    private Candidate next() {
        int best = -1;
        for (int i = 0; i < isSelected.length; i++) {
            if (!isSelected[i] && (best < 0 || value(i) > value(best))) {
                best = i;
            }
        }
        isSelected[best] = true;
        for (int i = 0; i < isSelected.length; i++) {
            distances[i] = Math.min(distances[i], distance(embeddings[i], embeddings[best]));
        }
        return candidates.get(best);
    }

    private double value(int i) {
        return candidates.get(i).uncertainty() * distances[i];
    }

    /** Returns 1 for unrelated embeddings, and 0 for equal ones. */
    private static double distance(double[] a, double[] b) {
        double product = 0;
        double squaresOfA = 0;
        double squaresOfB = 0;
        for (int i = 0; i < a.length; i++) {
            product += a[i] * b[i];
            squaresOfA += a[i] * a[i];
            squaresOfB += b[i] * b[i];
        }
        double norm = Math.sqrt(squaresOfA * squaresOfB);
        return norm == 0 ? 0 : Math.max(0, 1 - product / norm);
    }

    /** Returns embeddings with zero mean and unit variance of each channel over the images. */
    private static double[][] standardized(List<Candidate> candidates) {
        double[][] rows =
                candidates.stream()
                        .map(Candidate::embedding)
                        .map(ImmutableDoubleArray::toArray)
                        .toArray(double[][]::new);
        int channels = rows.length == 0 ? 0 : rows[0].length;
        for (int c = 0; c < channels; c++) {
            int channel = c;
            double mean = Arrays.stream(rows).mapToDouble(row -> row[channel]).average().orElse(0);
            double variance =
                    Arrays.stream(rows)
                            .mapToDouble(row -> Math.pow(row[channel] - mean, 2))
                            .average()
                            .orElse(0);
            for (double[] row : rows) {
                row[c] = variance > 0 ? (row[c] - mean) / Math.sqrt(variance) : 0;
            }
        }
        return rows;
    }
}
