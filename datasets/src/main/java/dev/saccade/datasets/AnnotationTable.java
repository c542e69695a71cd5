package dev.saccade.datasets;

import com.google.common.primitives.ImmutableDoubleArray;
import com.google.common.primitives.ImmutableIntArray;
import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.core.structures.Size;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * All images, annotations and categories of a data set as columns, in the order in which they were
 * added: about 70 bytes an annotation plus its outline, instead of objects. Nothing is checked: ids
 * may occur twice or refer to nothing.
 *
 * @param imageIds [I]
 * @param fileNames [I]
 * @param sources [I] names of the images that the images are augmented copies of, or ""
 * @param imageSizes [2 I] height and width of each image
 * @param annotationIds [A]
 * @param annotationImageIds [A]
 * @param annotationCategoryIds [A]
 * @param boxes [4 A] x, y, width and height of each annotation
 * @param areas [A]
 * @param segmentations [A] places in the pool
 * @param categoryIds [C]
 * @param categoryNames [C]
 */
public record AnnotationTable(
        ImmutableLongArray imageIds,
        List<String> fileNames,
        List<String> sources,
        ImmutableIntArray imageSizes,
        ImmutableLongArray annotationIds,
        ImmutableLongArray annotationImageIds,
        ImmutableLongArray annotationCategoryIds,
        ImmutableDoubleArray boxes,
        ImmutableDoubleArray areas,
        BitSet crowds,
        BitSet ignored,
        ImmutableIntArray segmentations,
        SegmentationPool pool,
        ImmutableLongArray categoryIds,
        List<String> categoryNames) {

    /** Returns the declared size of an image. */
    public Size imageSize(int image) {
        return new Size(imageSizes.get(2 * image), imageSizes.get(2 * image + 1));
    }

    /** Returns the position of every image id; the first one where an id occurs twice. */
    public Map<Long, Integer> imagesById() {
        Map<Long, Integer> positions = new HashMap<>();
        for (int i = 0; i < imageIds.length(); i++) {
            positions.putIfAbsent(imageIds.get(i), i);
        }
        return positions;
    }

    /** Returns the box at a row. */
    public Annotation.Bbox box(int row) {
        return new Annotation.Bbox(
                boxes.get(4 * row),
                boxes.get(4 * row + 1),
                boxes.get(4 * row + 2),
                boxes.get(4 * row + 3));
    }

    /** Returns the annotation at a row, with a label that the data set gives it. */
    public Annotation annotation(int row, int label) {
        return annotation(row, label, pool.read(segmentations.get(row)));
    }

    /** Returns likewise the annotation at a row without its outline, which is faster. */
    public Annotation withoutOutline(int row, int label) {
        return annotation(row, label, new Segmentation.None());
    }

    private Annotation annotation(int row, int label, Segmentation segmentation) {
        return new Annotation(
                annotationIds.get(row), label, box(row), areas.get(row), segmentation, marks(row));
    }

    private Set<Annotation.Mark> marks(int row) {
        Set<Annotation.Mark> marks = EnumSet.noneOf(Annotation.Mark.class);
        if (crowds.get(row)) {
            marks.add(Annotation.Mark.CROWD);
        }
        if (ignored.get(row)) {
            marks.add(Annotation.Mark.IGNORE);
        }
        return marks;
    }

    /** Returns whether an object has an outline. */
    public boolean hasOutlines() {
        return segmentations.asList().stream().anyMatch(place -> place != SegmentationPool.NONE);
    }

    /** Returns the ids of the categories of some names, of all if there are no names. */
    public Set<Long> categories(List<String> names) {
        return IntStream.range(0, categoryNames.size())
                .filter(i -> names.isEmpty() || names.contains(categoryNames.get(i)))
                .mapToObj(categoryIds::get)
                .collect(Collectors.toSet());
    }

    /** A table that still grows. */
    public static final class Builder {

        private final ImmutableLongArray.Builder imageIds = ImmutableLongArray.builder();
        private final List<String> fileNames = new ArrayList<>();
        private final List<String> sources = new ArrayList<>();
        private final ImmutableIntArray.Builder imageSizes = ImmutableIntArray.builder();
        private final ImmutableLongArray.Builder annotationIds = ImmutableLongArray.builder();
        private final ImmutableLongArray.Builder annotationImageIds = ImmutableLongArray.builder();
        private final ImmutableLongArray.Builder annotationCategoryIds =
                ImmutableLongArray.builder();
        private final ImmutableDoubleArray.Builder boxes = ImmutableDoubleArray.builder();
        private final ImmutableDoubleArray.Builder areas = ImmutableDoubleArray.builder();
        private final BitSet crowds = new BitSet();
        private final BitSet ignored = new BitSet();
        private int rows;
        private final ImmutableIntArray.Builder segmentations = ImmutableIntArray.builder();
        private final SegmentationPool pool = new SegmentationPool();
        private final ImmutableLongArray.Builder categoryIds = ImmutableLongArray.builder();
        private final List<String> categoryNames = new ArrayList<>();

        /** Adds an image. */
        public Builder addImage(long id, String fileName, Size size) {
            return addImage(id, fileName, size, "");
        }

        /**
         * Adds an image that is an augmented copy.
         *
         * @param source the name of the image that it is a copy of; empty if that is unknown
         */
        public Builder addImage(long id, String fileName, Size size, String source) {
            sources.add(source);
            imageIds.add(id);
            fileNames.add(fileName);
            imageSizes.add(size.height());
            imageSizes.add(size.width());
            return this;
        }

        /** Adds a category. */
        public Builder addCategory(long id, String name) {
            categoryIds.add(id);
            categoryNames.add(name);
            return this;
        }

        /** Adds an annotation; its label is not kept, the category is. */
        public Builder addAnnotation(long imageId, long categoryId, Annotation annotation) {
            annotationIds.add(annotation.id());
            annotationImageIds.add(imageId);
            annotationCategoryIds.add(categoryId);
            Annotation.Bbox box = annotation.box();
            boxes.add(box.x()).add(box.y()).add(box.width()).add(box.height());
            areas.add(annotation.area());
            crowds.set(rows, annotation.crowd());
            ignored.set(rows++, annotation.ignore());
            segmentations.add(pool.add(annotation.segmentation()));
            return this;
        }

        /** Returns the table; nothing is added thereafter. */
        public AnnotationTable build() {
            pool.trim();
            return new AnnotationTable(
                    imageIds.build().trimmed(),
                    List.copyOf(fileNames),
                    List.copyOf(sources),
                    imageSizes.build().trimmed(),
                    annotationIds.build().trimmed(),
                    annotationImageIds.build().trimmed(),
                    annotationCategoryIds.build().trimmed(),
                    boxes.build().trimmed(),
                    areas.build().trimmed(),
                    crowds,
                    ignored,
                    segmentations.build().trimmed(),
                    pool,
                    categoryIds.build().trimmed(),
                    List.copyOf(categoryNames));
        }
    }
}
