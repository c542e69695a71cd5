package dev.saccade.datasets;

/** What a data set holds. */
public sealed interface DatasetStatistics permits ObjectStatistics, PixelStatistics {

    /** Returns the number of photographs. */
    int photographs();
}
