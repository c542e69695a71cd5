package dev.saccade.datasets;

import com.google.common.primitives.ImmutableDoubleArray;
import com.google.common.primitives.ImmutableIntArray;
import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.core.structures.Size;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The content of a COCO annotation file as columns, in file order: about 70 bytes an annotation
 * plus its outline, instead of objects.
 *
 * @param imageIds [I]
 * @param fileNames [I]
 * @param imageSizes [2 I] height and width of each
 * @param annotationIds [A]
 * @param annotationImageIds [A]
 * @param annotationCategoryIds [A]
 * @param boxes [4 A] x, y, width and height of each; NaN where the file has no usable number
 * @param areas [A]
 * @param flags [A] bit 0: crowd, bit 1: ignore
 * @param outlines [A] places in the pool
 * @param pool the outlines
 * @param categoryIds [C]
 * @param categoryNames [C]
 */
record CocoColumns(
        ImmutableLongArray imageIds,
        List<String> fileNames,
        ImmutableIntArray imageSizes,
        ImmutableLongArray annotationIds,
        ImmutableLongArray annotationImageIds,
        ImmutableLongArray annotationCategoryIds,
        ImmutableDoubleArray boxes,
        ImmutableDoubleArray areas,
        ImmutableIntArray flags,
        ImmutableIntArray outlines,
        SegmentationPool pool,
        ImmutableLongArray categoryIds,
        List<String> categoryNames) {

    static final int CROWD = 1;
    static final int IGNORE = 2;

    /** Returns the declared size of an image. */
    Size imageSize(int image) {
        return new Size(imageSizes.get(2 * image), imageSizes.get(2 * image + 1));
    }

    /** Returns the position of every image id; the first one where an id occurs twice. */
    Map<Long, Integer> imagesById() {
        Map<Long, Integer> positions = new HashMap<>();
        for (int i = 0; i < imageIds.length(); i++) {
            positions.putIfAbsent(imageIds.get(i), i);
        }
        return positions;
    }

    /** Returns the ids of the categories of some names, of all if there are no names. */
    Set<Long> categories(List<String> names) {
        return IntStream.range(0, categoryNames.size())
                .filter(i -> names.isEmpty() || names.contains(categoryNames.get(i)))
                .mapToObj(categoryIds::get)
                .collect(Collectors.toSet());
    }

    /** Returns whether an object of the file has an outline. */
    boolean hasOutlines() {
        return outlines.asList().stream().anyMatch(place -> place != SegmentationPool.NONE);
    }

    /** Returns the annotation at a row, with a label that the data set gives it. */
    Annotation annotation(int row, int label) {
        return annotation(row, label, pool.read(outlines.get(row)));
    }

    private Annotation annotation(int row, int label, Segmentation outline) {
        return new Annotation(
                annotationIds.get(row),
                label,
                boxes.get(4 * row),
                boxes.get(4 * row + 1),
                boxes.get(4 * row + 2),
                boxes.get(4 * row + 3),
                areas.get(row),
                (flags.get(row) & CROWD) != 0,
                (flags.get(row) & IGNORE) != 0,
                outline);
    }

    /** Returns the annotation at a row without its outline, labelled 0. */
    Annotation box(int row) {
        return annotation(row, 0, new Segmentation.None());
    }

    /** Likewise, labelled -1 if its category is not among those wanted. */
    Annotation box(int row, Set<Long> wanted) {
        boolean isWanted = wanted.contains(annotationCategoryIds.get(row));
        return annotation(row, isWanted ? 0 : -1, new Segmentation.None());
    }

    /** Columns that still grow. */
    static final class Builder {

        final ImmutableLongArray.Builder imageIds = ImmutableLongArray.builder();
        final List<String> fileNames = new ArrayList<>();
        final ImmutableIntArray.Builder imageSizes = ImmutableIntArray.builder();
        final ImmutableLongArray.Builder annotationIds = ImmutableLongArray.builder();
        final ImmutableLongArray.Builder annotationImageIds = ImmutableLongArray.builder();
        final ImmutableLongArray.Builder annotationCategoryIds = ImmutableLongArray.builder();
        final ImmutableDoubleArray.Builder boxes = ImmutableDoubleArray.builder();
        final ImmutableDoubleArray.Builder areas = ImmutableDoubleArray.builder();
        final ImmutableIntArray.Builder flags = ImmutableIntArray.builder();
        final ImmutableIntArray.Builder outlines = ImmutableIntArray.builder();
        final SegmentationPool pool = new SegmentationPool();
        final ImmutableLongArray.Builder categoryIds = ImmutableLongArray.builder();
        final List<String> categoryNames = new ArrayList<>();

        void add(Photo photo) {
            imageIds.add(photo.id());
            fileNames.add(photo.file().toString());
            imageSizes.add(photo.size().height());
            imageSizes.add(photo.size().width());
        }

        void add(Photo photo, Annotation annotation) {
            annotationIds.add(annotation.id());
            annotationImageIds.add(photo.id());
            annotationCategoryIds.add(annotation.label());
            boxes.add(annotation.x()).add(annotation.y());
            boxes.add(annotation.width()).add(annotation.height());
            areas.add(annotation.area());
            flags.add((annotation.crowd() ? CROWD : 0) | (annotation.ignore() ? IGNORE : 0));
            outlines.add(pool.add(annotation.segmentation()));
        }

        CocoColumns build() {
            pool.trim();
            return new CocoColumns(
                    imageIds.build().trimmed(),
                    List.copyOf(fileNames),
                    imageSizes.build().trimmed(),
                    annotationIds.build().trimmed(),
                    annotationImageIds.build().trimmed(),
                    annotationCategoryIds.build().trimmed(),
                    boxes.build().trimmed(),
                    areas.build().trimmed(),
                    flags.build().trimmed(),
                    outlines.build().trimmed(),
                    pool,
                    categoryIds.build().trimmed(),
                    List.copyOf(categoryNames));
        }
    }
}
