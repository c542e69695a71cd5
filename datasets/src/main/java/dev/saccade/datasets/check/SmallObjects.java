package dev.saccade.datasets.check;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.Dropped;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageScale;
import dev.saccade.datasets.Transform;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Warns of objects that have too few pixels left in the input of the model. */
public final class SmallObjects {

    /** Edge in input pixels below which hardly any detector finds an object. */
    private static final double LEAST = 4;

    /** Edge in input pixels that the suggested size gives to small objects. */
    private static final double WANTED = 8;

    private static final double FRACTION_OF_ALL = 0.1;
    private static final double FRACTION_OF_CLASS = 0.5;
    private static final int MULTIPLE = 32;

    /** The square root of its area in pixels of the image, which is scaled by a factor. */
    private record Small(long category, double edge, double factor, Size image, Size input) {}

    private SmallObjects() {}

    /**
     * Returns the warning about a data set, if many objects are small.
     *
     * @param wanted the categories that are trained
     * @param transforms of the images; no warning without them
     */
    public static Optional<Finding> warning(
            AnnotationTable table, String file, Set<Long> wanted, List<Transform> transforms) {
        if (transforms.isEmpty()) {
            return Optional.empty();
        }
        Map<Size, ImageScale> scales = new HashMap<>();
        Map<Long, Integer> images = table.imagesById();
        Multiset<Long> all = HashMultiset.create();
        List<Small> small = new ArrayList<>();
        for (int row = 0; row < table.annotationIds().length(); row++) {
            Integer image = images.get(table.annotationImageIds().get(row));
            long category = table.annotationCategoryIds().get(row);
            if (image == null || !wanted.contains(category)) {
                continue;
            }
            Annotation object = table.withoutOutline(row, 0);
            Size size = table.imageSize(image);
            if (Dropped.reason(object, size).isEmpty()) {
                ImageScale scale =
                        scales.computeIfAbsent(size, s -> ImageScale.of(s).after(transforms));
                double edge = Math.sqrt(object.box().area());
                all.add(category);
                if (edge * scale.factor() < LEAST) {
                    small.add(new Small(category, edge, scale.factor(), size, scale.size()));
                }
            }
        }
        return warning(table, file, all, small);
    }

    private static Optional<Finding> warning(
            AnnotationTable table, String file, Multiset<Long> all, List<Small> small) {
        Multiset<Long> smallOf = HashMultiset.create();
        small.forEach(object -> smallOf.add(object.category));
        List<String> classes =
                new TreeSet<>(smallOf.elementSet())
                        .stream()
                                .filter(c -> smallOf.count(c) >= FRACTION_OF_CLASS * all.count(c))
                                .map(c -> table.categoryIds().asList().indexOf(c))
                                .map(table.categoryNames()::get)
                                .toList();
        if (small.isEmpty() || (small.size() < FRACTION_OF_ALL * all.size() && classes.isEmpty())) {
            return Optional.empty();
        }
        small.sort(Comparator.comparingDouble(Small::edge).thenComparingLong(Small::category));
        // A tenth of the small objects may stay below the wanted size.
        Small typical = small.get(small.size() / 10);
        Small median = small.get(small.size() / 2);
        double factor = WANTED / typical.edge;
        return Optional.of(
                Finding.warning(
                        file,
                        "",
                        Text.format(
                                "%d of %d objects%s are smaller than %.0f pixels in the model input"
                                        + " (half of these below %.1f); set image_size: [%d, %d], or"
                                        + " cut the images into tiles of about %dx%d pixels, also to"
                                        + " predict",
                                small.size(),
                                all.size(),
                                classes.isEmpty()
                                        ? ""
                                        : " (most of " + String.join(", ", classes) + ")",
                                LEAST,
                                median.edge * median.factor,
                                rounded(factor * typical.image.width()),
                                rounded(factor * typical.image.height()),
                                rounded(typical.input.width() / factor),
                                rounded(typical.input.height() / factor))));
    }

    private static int rounded(double edge) {
        return Math.max(1, (int) Math.ceil(edge / MULTIPLE)) * MULTIPLE;
    }
}
