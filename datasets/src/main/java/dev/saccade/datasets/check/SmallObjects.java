package dev.saccade.datasets.check;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.AnnotationTable.LabeledObject;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageScale;
import dev.saccade.datasets.TrainingTargets;
import dev.saccade.datasets.Transform;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Warns about objects that have too few pixels in the model input. */
public final class SmallObjects {

    /** Edge in input pixels below which hardly any detector finds an object. */
    private static final double MIN_EDGE = 4;

    /** Target edge of small objects in input pixels, for the suggested size. */
    private static final double TARGET_EDGE = 8;

    private static final double FRACTION_OF_ALL = 0.1;
    private static final double FRACTION_OF_CLASS = 0.5;
    private static final int MULTIPLE = 32;

    /** A small object; {@code edge} is the square root of its box area in image pixels. */
    private record Small(long category, double edge, double factor, Size image, Size input) {}

    private SmallObjects() {}

    /** Returns a warning if many objects are small after transforms; none without transforms. */
    public static Optional<Finding> warning(
            AnnotationTable table, String file, Set<Long> selected, List<Transform> transforms) {
        if (transforms.isEmpty()) {
            return Optional.empty();
        }
        Map<Size, ImageScale> scales = new HashMap<>();
        Multiset<Long> all = HashMultiset.create();
        Multiset<Long> smallOf = HashMultiset.create();
        List<Small> small = new ArrayList<>();
        for (LabeledObject object : table.objects()) {
            Size size = object.image().size();
            Annotation annotation = object.row().withoutOutline(0);
            long category = object.row().categoryId();
            if (selected.contains(category) && TrainingTargets.isUsable(annotation, size)) {
                ImageScale scale =
                        scales.computeIfAbsent(size, s -> ImageScale.of(s).after(transforms));
                double edge = Math.sqrt(annotation.box().area());
                all.add(category);
                if (edge * scale.factor() < MIN_EDGE) {
                    smallOf.add(category);
                    small.add(new Small(category, edge, scale.factor(), size, scale.size()));
                }
            }
        }
        List<String> classes =
                table.categories().stream()
                        .filter(category -> smallOf.contains(category.id()))
                        .filter(c -> smallOf.count(c.id()) >= FRACTION_OF_CLASS * all.count(c.id()))
                        .map(AnnotationTable.Category::name)
                        .toList();
        if (small.isEmpty() || (small.size() < FRACTION_OF_ALL * all.size() && classes.isEmpty())) {
            return Optional.empty();
        }
        small.sort(Comparator.comparingDouble(Small::edge).thenComparingLong(Small::category));
        // A tenth of the small objects may remain below the target size.
        Small typical = small.get(small.size() / 10);
        Small median = small.get(small.size() / 2);
        double factor = TARGET_EDGE / typical.edge;
        String message =
                Text.format(
                        "%d of %d objects%s are smaller than %.0f pixels in the model input (half"
                                + " of these below %.1f); set image_size: [%d, %d], or train and"
                                + " predict on tiles of about %dx%d pixels",
                        small.size(),
                        all.size(),
                        classes.isEmpty() ? "" : " (most of " + String.join(", ", classes) + ")",
                        MIN_EDGE,
                        median.edge * median.factor,
                        rounded(factor * typical.image.width()),
                        rounded(factor * typical.image.height()),
                        rounded(typical.input.width() / factor),
                        rounded(typical.input.height() / factor));
        return Optional.of(Finding.warning(file, "", message));
    }

    private static int rounded(double edge) {
        return Math.max(1, (int) Math.ceil(edge / MULTIPLE)) * MULTIPLE;
    }
}
