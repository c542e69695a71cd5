package dev.saccade.datasets;

import com.google.common.collect.Lists;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation.Bbox;
import dev.saccade.datasets.Annotation.Flag;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * All images, annotations and categories of a data set in the order in which they were added.
 * Nothing is checked: ids may occur twice or refer to nothing.
 */
public record AnnotationTable(
        List<ImageRow> images, List<Row> annotations, List<Category> categories) {

    /**
     * An image.
     *
     * @param source name of the image that it is an augmented copy of; empty if unknown
     */
    public record ImageRow(long id, String fileName, Size size, String source) {}

    /** A category. */
    public record Category(long id, String name) {}

    /**
     * An annotation in about 100 bytes plus its packed outline, so that millions fit into memory.
     *
     * @param outline packed by {@link SegmentationCodec}
     */
    @SuppressWarnings("ArrayRecordComponent")
    public record Row(
            long id,
            long imageId,
            long categoryId,
            double x,
            double y,
            double width,
            double height,
            double area,
            Set<Flag> flags,
            byte[] outline) {

        /** Returns the box. */
        public Bbox box() {
            return new Bbox(x, y, width, height);
        }

        /** Returns whether the object has an outline. */
        public boolean hasOutline() {
            return outline.length > 0;
        }

        /** Returns the annotation with a label that the data set assigns. */
        public Annotation annotation(int label) {
            return annotation(label, SegmentationCodec.unpack(outline));
        }

        /** Returns the annotation without its outline, which is faster. */
        public Annotation withoutOutline(int label) {
            return annotation(label, new Segmentation.None());
        }

        private Annotation annotation(int label, Segmentation segmentation) {
            return new Annotation(id, label, box(), area, segmentation, flags);
        }
    }

    /** An annotation and its image. */
    public record LabeledObject(Row row, ImageRow image) {

        /** Returns the name of the object in findings. */
        public String subject() {
            return Text.format("annotation %d of image %d (%s)", row.id, image.id, image.fileName);
        }
    }

    /** Returns the images by id; the first one where an id occurs twice. */
    public Map<Long, ImageRow> imagesById() {
        Map<Long, ImageRow> byId = new HashMap<>();
        images.forEach(image -> byId.putIfAbsent(image.id, image));
        return byId;
    }

    /** Returns the annotations whose image is known. */
    public List<LabeledObject> objects() {
        Map<Long, ImageRow> byId = imagesById();
        return annotations.stream()
                .filter(row -> byId.containsKey(row.imageId))
                .map(row -> new LabeledObject(row, byId.get(row.imageId)))
                .toList();
    }

    /** Returns the names of all categories. */
    public List<String> categoryNames() {
        return Lists.transform(categories, Category::name);
    }

    /** Returns the ids of the categories of some names, of all if there are no names. */
    public Set<Long> categories(List<String> names) {
        return categories.stream()
                .filter(category -> names.isEmpty() || names.contains(category.name))
                .map(Category::id)
                .collect(Collectors.toSet());
    }

    /** A table that still grows. */
    public static final class Builder {

        private final List<ImageRow> images = new ArrayList<>();
        private final List<Row> annotations = new ArrayList<>();
        private final List<Category> categories = new ArrayList<>();

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
            images.add(new ImageRow(id, fileName, size, source));
            return this;
        }

        /** Adds a category. */
        public Builder addCategory(long id, String name) {
            categories.add(new Category(id, name));
            return this;
        }

        /** Adds an annotation; its label is not kept, the category is. */
        public Builder addAnnotation(long imageId, long categoryId, Annotation annotation) {
            Bbox box = annotation.box();
            annotations.add(
                    new Row(
                            annotation.id(),
                            imageId,
                            categoryId,
                            box.x(),
                            box.y(),
                            box.width(),
                            box.height(),
                            annotation.area(),
                            annotation.flags(),
                            SegmentationCodec.pack(annotation.segmentation())));
            return this;
        }

        /** Returns the table. */
        public AnnotationTable build() {
            return new AnnotationTable(
                    List.copyOf(images), List.copyOf(annotations), List.copyOf(categories));
        }
    }
}
