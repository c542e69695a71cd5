package dev.saccade.datasets.pillow;

import java.util.Arrays;

/** The first input position of each output position of a resize, and the weights of the inputs. */
final class Filter {

    private final int[] first;
    private final double[][] weights;

    private Filter(int[] first, double[][] weights) {
        this.first = first;
        this.weights = weights;
    }

    /** Creates a filter of {@code in} positions whose range from start to end is resized. */
    static Filter of(int in, float start, float end, int out, Interpolation interpolation) {
        double scale = (double) (end - start) / out;
        double filterScale = Math.max(1, scale);
        double support = interpolation.support() * filterScale;
        int[] first = new int[out];
        double[][] weights = new double[out][];
        for (int position = 0; position < out; position++) {
            double center = start + (position + 0.5) * scale;
            int least = Math.max(0, (int) (center - support + 0.5));
            int most = Math.min(in, (int) (center + support + 0.5));
            double[] values = new double[most - least];
            double sum = 0;
            for (int i = 0; i < values.length; i++) {
                double distance = (i + least - center + 0.5) * (1 / filterScale);
                values[i] = interpolation.weight(distance);
                sum += values[i];
            }
            for (int i = 0; i < values.length && sum != 0; i++) {
                values[i] /= sum;
            }
            first[position] = least;
            weights[position] = values;
        }
        return new Filter(first, weights);
    }

    int size() {
        return first.length;
    }

    int first(int position) {
        return first[position];
    }

    double[] weights(int position) {
        return weights[position];
    }

    int start() {
        return first[0];
    }

    int end() {
        return first[first.length - 1] + weights[weights.length - 1].length;
    }

    /** Returns this filter for an input without the positions before {@link #start}. */
    Filter fromStart() {
        return new Filter(
                Arrays.stream(first).map(position -> position - start()).toArray(), weights);
    }

    int taps() {
        return Arrays.stream(weights).mapToInt(values -> values.length).max().orElse(0);
    }
}
