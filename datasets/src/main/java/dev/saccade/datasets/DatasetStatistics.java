package dev.saccade.datasets;

import java.util.List;

/** What a data set holds. */
public sealed interface DatasetStatistics permits ObjectStatistics, PixelStatistics {

    /** Returns the number of photographs. */
    int images();

    /** Returns the names of the classes in the order of the labels; none if they are not known. */
    List<String> classNames();
}
