package dev.saccade.datasets.convert.formats;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.check.Reporter;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.LabelBuilder;
import dev.saccade.datasets.convert.LabeledImage;
import dev.saccade.datasets.convert.PixelEncoding;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.source.NearestPaths;
import dev.saccade.datasets.image.ImageHeader;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

final class LabelMapPairs {

    private record Pair(String image, String map, Optional<Split> split) {}

    private final ConversionContext context;
    private final Map<String, Pair> byImage = new LinkedHashMap<>();

    LabelMapPairs(ConversionContext context) {
        this.context = context;
    }

    void add(String map, List<String> images, Optional<Split> split) {
        List<String> nearest = NearestPaths.nearest(map, images);
        String place = context.place(map);
        if (nearest.isEmpty()) {
            context.error(place, "no image was found for this label map");
        } else if (nearest.size() > 1) {
            context.error(
                    place,
                    "matches %s; expected one image with this name",
                    String.join(" and ", nearest));
        } else if (byImage.putIfAbsent(nearest.get(0), new Pair(nearest.get(0), map, split))
                != null) {
            context.error(
                    place, "is the second label map of %s; remove one of them", nearest.get(0));
        }
    }

    void reportUnlabeled(List<String> images) {
        context.reportUnlabeled(images, byImage.keySet(), "a label map");
    }

    SourceLabels labels(List<String> classes, PixelEncoding code) {
        List<LabeledImage> images = context.images(byImage.values(), pair -> read(pair, code));
        return LabelBuilder.build(context, classes, images, Optional.of(code));
    }

    private LabeledImage read(Pair pair, PixelEncoding code) {
        Path image = context.folder().path(pair.image);
        Path map = context.folder().path(pair.map);
        List<Finding> findings = new ArrayList<>();
        Reporter faults = findings::add;
        Optional<Size> size =
                LabelBuilder.header(image, /* embedded= */ false, faults).map(ImageHeader::size);
        faults.attempt(
                map.toString(),
                () -> {
                    Size mapped = code.read(map).size();
                    if (size.isPresent() && !mapped.equals(size.get())) {
                        throw SaccadeException.user(
                                "%s: is %s (height x width), but its image %s is %s",
                                map, mapped, pair.image, size.get());
                    }
                });
        return new LabeledImage(
                pair.image,
                image,
                /* embedded= */ false,
                pair.split,
                size.orElse(new Size(0, 0)),
                List.of(),
                Optional.of(map),
                findings,
                /* source= */ "");
    }
}
