package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import java.util.List;
import java.util.Map;

/** Counts of a data set of label maps; {@code ignored} counts pixels without a class. */
public record PixelStatistics(int images, long pixels, long ignored, Map<String, PerClass> classes)
        implements DatasetStatistics {

    public PixelStatistics {
        classes = ImmutableMap.copyOf(classes);
    }

    @Override
    public List<String> classNames() {
        return ImmutableList.copyOf(classes.keySet());
    }

    /** Counts of a class; {@code fraction} is relative to all pixels with a class. */
    public record PerClass(long pixels, double fraction, int images) {}
}
