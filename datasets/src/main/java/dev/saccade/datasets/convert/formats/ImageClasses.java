package dev.saccade.datasets.convert.formats;

import dev.saccade.core.Count;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.ParsedImage;
import dev.saccade.datasets.convert.ParsedObject;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/** Classes of images; they are used if no image has objects. */
final class ImageClasses {

    private final IdentityHashMap<ParsedImage, List<ParsedObject>> classes =
            new IdentityHashMap<>();

    void add(ParsedImage image, String place, String name) {
        classes.computeIfAbsent(image, key -> new ArrayList<>())
                .add(ParsedObject.ofImage(place, name));
    }

    /**
     * Adds the classes to images without objects, or warns that they are left out; {@code kind} is
     * the name of classes in the format. Removes images without a class.
     */
    void addTo(List<ParsedImage> images, ConversionContext context, String kind) {
        int count = classes.values().stream().mapToInt(List::size).sum();
        boolean hasObjects = images.stream().anyMatch(image -> !image.objects().isEmpty());
        if (count > 0 && hasObjects) {
            context.warning(
                    context.folder().toString(),
                    "skipped %d %s, because other labels are objects",
                    count,
                    kind);
        } else if (count > 0) {
            context.readImageClasses();
            int all = images.size();
            images.removeIf(image -> !classes.containsKey(image));
            if (images.size() < all) {
                context.warning(
                        context.folder().toString(),
                        "%s without %s skipped",
                        Count.of(all - images.size(), "image"),
                        kind);
            }
            images.forEach(image -> add(image, kind));
        }
    }

    private void add(ParsedImage image, String kind) {
        List<ParsedObject> found = classes.get(image);
        if (found.size() > 1) {
            image.fault("got %d %s, expected one class per image", found.size(), kind);
        }
        image.objects().add(found.get(0));
    }
}
