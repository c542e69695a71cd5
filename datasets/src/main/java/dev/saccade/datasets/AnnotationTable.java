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

/** Images, annotations and categories in the order of addition; not checked for consistency. */
public record AnnotationTable(
        List<ImageRow> images, List<Row> annotations, List<Category> categories) {

    /** An image; {@code source} is the original of an augmented copy, empty if unknown. */
    public record ImageRow(long id, String fileName, Size size, String source) {}

    public record Category(long id, String name) {}

    /** An annotation in about 100 bytes, plus an outline packed by {@link SegmentationCodec}. */
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

        public Bbox box() {
            return new Bbox(x, y, width, height);
        }

        public boolean hasOutline() {
            return outline.length > 0;
        }

        public Annotation annotation(int label) {
            return annotation(label, SegmentationCodec.unpack(outline));
        }

        /** Returns the annotation with a label, without its outline, which is slow to unpack. */
        public Annotation withoutOutline(int label) {
            return annotation(label, new Segmentation.None());
        }

        private Annotation annotation(int label, Segmentation segmentation) {
            return new Annotation(id, label, box(), area, segmentation, flags);
        }
    }

    public record LabeledObject(Row row, ImageRow image) {

        public String subject() {
            return Text.format("annotation %d of image %d (%s)", row.id, image.id, image.fileName);
        }
    }

    /** Returns the images by id; the first one if an id occurs twice. */
    public Map<Long, ImageRow> imagesById() {
        Map<Long, ImageRow> byId = new HashMap<>();
        images.forEach(image -> byId.putIfAbsent(image.id, image));
        return byId;
    }

    public List<LabeledObject> objects() {
        Map<Long, ImageRow> byId = imagesById();
        return annotations.stream()
                .filter(row -> byId.containsKey(row.imageId))
                .map(row -> new LabeledObject(row, byId.get(row.imageId)))
                .toList();
    }

    public List<String> categoryNames() {
        return Lists.transform(categories, Category::name);
    }

    /** Returns the ids of the categories with these names; all if {@code names} is empty. */
    public Set<Long> categories(List<String> names) {
        return categories.stream()
                .filter(category -> names.isEmpty() || names.contains(category.name))
                .map(Category::id)
                .collect(Collectors.toSet());
    }

    public static final class Builder {

        private final List<ImageRow> images = new ArrayList<>();
        private final List<Row> annotations = new ArrayList<>();
        private final List<Category> categories = new ArrayList<>();

        public Builder addImage(long id, String fileName, Size size) {
            return addImage(id, fileName, size, "");
        }

        /** Adds an image; {@code source} is the original of an augmented copy, empty if unknown. */
        public Builder addImage(long id, String fileName, Size size, String source) {
            images.add(new ImageRow(id, fileName, size, source));
            return this;
        }

        public Builder addCategory(long id, String name) {
            categories.add(new Category(id, name));
            return this;
        }

        /** Adds an annotation; stores the category id instead of its label. */
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

        public AnnotationTable build() {
            return new AnnotationTable(
                    List.copyOf(images), List.copyOf(annotations), List.copyOf(categories));
        }
    }
}
