package dev.saccade.datasets;

import java.util.List;

/** Counts of a data set. */
public sealed interface DatasetStatistics
        permits ObjectStatistics, PixelStatistics, ImageLabelStatistics {

    int images();

    /** Returns the class names in the order of the labels; empty if unknown. */
    List<String> classNames();
}
