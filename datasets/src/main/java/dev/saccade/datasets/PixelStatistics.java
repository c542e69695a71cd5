package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import java.util.List;
import java.util.Map;

/**
 * What a data set of labeled pixels holds; files that cannot be read are not counted.
 *
 * @param images number of photographs
 * @param pixels number of pixels that have a class
 * @param ignored number of pixels without one
 * @param classes what there is of each class, in the order of the labels
 */
public record PixelStatistics(int images, long pixels, long ignored, Map<String, PerClass> classes)
        implements DatasetStatistics {

    /** Keeps a copy. */
    public PixelStatistics {
        classes = ImmutableMap.copyOf(classes);
    }

    @Override
    public List<String> classNames() {
        return ImmutableList.copyOf(classes.keySet());
    }

    /**
     * What there is of a class.
     *
     * @param pixels number of its pixels
     * @param fraction of all pixels that have a class, 0 to 1
     * @param images number of photographs that show it
     */
    public record PerClass(long pixels, double fraction, int images) {}
}
