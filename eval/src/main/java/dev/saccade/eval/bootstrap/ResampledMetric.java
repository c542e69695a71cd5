package dev.saccade.eval.bootstrap;

/** A metric of a data set in which each image occurs any number of times. Not thread-safe. */
public interface ResampledMetric {

    /** Returns the number of images of the original data set. */
    int images();

    /**
     * Returns the metric as if image {@code i}, in ascending order of image ids, occurred {@code
     * counts[i]} times; NaN if undefined.
     */
    double value(int[] counts);
}
