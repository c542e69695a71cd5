package dev.saccade.report.predictions;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.datasets.image.ImageSource;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Collects warnings about images; equal warnings become one line. */
public final class ImageWarnings {

    record Images(String first, long count) {}

    private final Map<String, Images> images = new LinkedHashMap<>();

    /** Returns the image source, set up to add its warnings to this collection. */
    ImageSource of(ImageSource image) {
        return image.warnings(receiver(image.name()));
    }

    Consumer<String> receiver(String image) {
        return warning -> add(warning, new Images(image, 1));
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
