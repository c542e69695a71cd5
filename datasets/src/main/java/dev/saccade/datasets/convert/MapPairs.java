package dev.saccade.datasets.convert;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.image.ImageReader;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;

/** Photographs and the label maps that belong to them, by the order in which they were paired. */
final class MapPairs {

    private record Pair(String photograph, Optional<Part> part) {}

    private final Reading reading;
    private final Map<String, Pair> byMap = new LinkedHashMap<>();
    private final Set<String> paired = new HashSet<>();

    MapPairs(Reading reading) {
        this.reading = reading;
    }

    /**
     * Pairs a label map with the nearest of the images that it may be of; a map without one is an
     * error.
     */
    void add(String map, List<String> images, Optional<Part> part) {
        List<String> nearest = Nearness.nearest(map, images);
        if (nearest.isEmpty()) {
            reading.error(reading.place(map), "there is no photograph of this label map");
        } else if (nearest.size() > 1) {
            reading.error(
                    reading.place(map),
                    Text.format(
                            "may be the label map of %s; expected one image of this name",
                            String.join(" or ", nearest)));
        } else if (!paired.add(nearest.get(0))) {
            reading.error(
                    reading.place(map),
                    Text.format("is the second label map of %s", nearest.get(0)));
        } else {
            byMap.put(map, new Pair(nearest.get(0), part));
        }
    }

    /** Says how many photographs have no label map, among those that could have one. */
    void tellUnlabeled(List<String> photographs) {
        reading.tellUnlabeled(photographs, paired, "a label map");
    }

    /** Returns the labels. */
    ForeignLabels labels(List<String> classes, PixelCode code) {
        List<Callable<LabeledPhoto>> tasks = new ArrayList<>();
        byMap.forEach((map, pair) -> tasks.add(() -> read(map, pair, code)));
        return reading.labels(classes, reading.photos(tasks), Optional.of(code));
    }

    private LabeledPhoto read(String map, Pair pair, PixelCode code) {
        Path photo = reading.folder().path(pair.photograph);
        Path labels = reading.folder().path(map);
        List<Finding> faults = new ArrayList<>();
        Size size = new Size(0, 0);
        try {
            ImageHeader header = ImageHeader.read(photo);
            ImageReader.check(photo.toString(), header);
            size = header.size();
        } catch (SaccadeException e) {
            faults.add(Finding.error(photo.toString(), e));
        }
        try {
            Size mapped = code.read(labels).size();
            if (size.area() > 0 && !mapped.equals(size)) {
                throw SaccadeException.user(
                        "%s: is %s (height x width), but its photograph %s is %s",
                        labels, mapped, pair.photograph, size);
            }
        } catch (SaccadeException e) {
            faults.add(Finding.error(labels.toString(), e));
        }
        return new LabeledPhoto(
                pair.photograph,
                photo,
                /* embedded= */ false,
                pair.part,
                size,
                List.of(),
                Optional.of(labels),
                faults,
                LabeledPhoto.sourceOf(pair.photograph, ""));
    }
}
