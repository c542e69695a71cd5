package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import java.util.List;
import java.util.Map;

/** Counts of a data set of classified images; {@code imagesPerClass} has all classes in order. */
public record ImageLabelStatistics(Map<String, Integer> imagesPerClass)
        implements DatasetStatistics {

    public ImageLabelStatistics {
        imagesPerClass = ImmutableMap.copyOf(imagesPerClass);
    }

    @Override
    public int images() {
        return imagesPerClass.values().stream().mapToInt(count -> count).sum();
    }

    @Override
    public List<String> classNames() {
        return ImmutableList.copyOf(imagesPerClass.keySet());
    }
}
