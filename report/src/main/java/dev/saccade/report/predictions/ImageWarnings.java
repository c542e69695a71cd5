package dev.saccade.report.predictions;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.datasets.image.ImageSource;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Warnings about images that were read in part or completed; equal warnings become one line. */
public final class ImageWarnings {

    /**
     * Images with the same warning.
     *
     * @param first name of the first image
     * @param count number of images
     */
    record Images(String first, long count) {}

    private final Map<String, Images> images = new LinkedHashMap<>();

    /** Returns the image; its warnings are added here when it is read. */
    ImageSource of(ImageSource image) {
        return image.warnings(warning -> add(warning, new Images(image.name(), 1)));
    }

    private void add(String warning, Images more) {
        images.merge(
                warning,
                more,
                (known, other) -> new Images(known.first, known.count + other.count));
    }

    Map<String, Images> images() {
        return images;
    }

    void addAll(Map<String, Images> others) {
        others.forEach(this::add);
    }

    /** Returns a line for each warning. */
    public List<String> lines() {
        return images.entrySet().stream()
                .map(each -> line(each.getKey(), each.getValue()))
                .toList();
    }

    private static String line(String warning, Images images) {
        long more = images.count - 1;
        String others = more == 0 ? "" : " and " + Count.of(more, "more image");
        return Printable.format("%s%s: %s", images.first, others, warning);
    }
}
