package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;

import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Whether boxes and outlines of a COCO file make sense in their images. Nothing here stops a data
 * set from being opened: such objects are dropped or clipped, which may not be what was meant.
 */
final class CocoGeometry {

    /** Boxes of the official files stick out by fractions of a pixel. */
    private static final double TOLERANCE = 1;

    private final CocoColumns columns;
    private final String file;
    private final Set<Long> masked;
    private final Map<Long, Integer> images;

    /**
     * Prepares a check.
     *
     * @param masked the categories whose objects need outlines; none if no masks are learned
     */
    CocoGeometry(CocoColumns columns, String file, Set<Long> masked) {
        this.columns = columns;
        this.file = file;
        this.masked = masked;
        this.images = columns.imagesById();
    }

    /** Reports every fault, in the order of the file. */
    void check(Consumer<Finding> findings) {
        boolean corners = looksLikeCorners();
        if (corners) {
            findings.accept(
                    Finding.error(
                            file,
                            "",
                            "the bboxes look like [x1, y1, x2, y2], expected"
                                    + " [x, y, width, height]"));
        }
        boolean boxesOnly =
                !masked.isEmpty() && !columns.annotationIds().isEmpty() && !columns.hasOutlines();
        if (boxesOnly) {
            findings.accept(
                    Finding.error(
                            file,
                            "",
                            "no object has a segmentation, but the model learns masks; expected"
                                    + " outlines, or a model of boxes alone"));
        }
        for (int row = 0; row < columns.annotationIds().length(); row++) {
            Integer image = images.get(columns.annotationImageIds().get(row));
            if (image != null) {
                Annotation annotation = columns.annotation(row, 0);
                String subject = subject(annotation, image);
                Size size = columns.imageSize(image);
                if (!corners) {
                    checkBox(annotation, size, subject, findings);
                }
                if (!boxesOnly && masked.contains(columns.annotationCategoryIds().get(row))) {
                    checkPresence(annotation, size, subject, findings);
                }
                checkOutline(annotation, size, subject, findings);
            }
        }
    }

    private String subject(Annotation annotation, int image) {
        return String.format(
                "annotation %d of image %d (%s)",
                annotation.id(), columns.imageIds().get(image), columns.fileNames().get(image));
    }

    private void checkBox(Annotation box, Size image, String subject, Consumer<Finding> findings) {
        String bbox =
                String.format(
                        Locale.ROOT,
                        "bbox [%s, %s, %s, %s]",
                        box.x(),
                        box.y(),
                        box.width(),
                        box.height());
        if (box.width() <= 0 || box.height() <= 0) {
            findings.accept(Finding.warning(file, subject, bbox + " has no area, it is dropped"));
        } else if (box.width() < 1 || box.height() < 1) {
            findings.accept(
                    Finding.warning(
                            file, subject, bbox + " is thinner than a pixel, it is dropped"));
        } else if (isOutside(box, image)) {
            findings.accept(
                    Finding.warning(
                            file, subject, bbox + " lies outside of " + image + ", it is dropped"));
        } else if (sticksOut(box, image)) {
            findings.accept(
                    Finding.warning(
                            file, subject, bbox + " sticks out of " + image + ", it is clipped"));
        }
        if (box.area() <= 0) {
            findings.accept(
                    Finding.warning(file, subject, "area " + box.area() + ", it is dropped"));
        }
    }

    private void checkPresence(
            Annotation annotation, Size image, String subject, Consumer<Finding> findings) {
        if (annotation.segmentation() instanceof Segmentation.None
                && TrainingTargets.isUsable(annotation, image)) {
            findings.accept(
                    Finding.error(file, subject, "has no segmentation to learn a mask from"));
        }
    }

    private void checkOutline(
            Annotation annotation, Size image, String subject, Consumer<Finding> findings) {
        if (annotation.segmentation() instanceof Segmentation.None) {
            return;
        }
        try {
            if (annotation.segmentation().mask(image).area() == 0) {
                findings.accept(Finding.warning(file, subject, "segmentation covers no pixel"));
            }
        } catch (SaccadeException e) {
            findings.accept(Finding.error(file, subject, "segmentation: " + e.getMessage()));
        }
    }

    /** Many boxes stick out of their images, but nearly all would fit if they were corners. */
    private boolean looksLikeCorners() {
        int boxes = 0;
        int outside = 0;
        int fitting = 0;
        for (int row = 0; row < columns.annotationIds().length(); row++) {
            Integer image = images.get(columns.annotationImageIds().get(row));
            if (image != null) {
                Annotation box = columns.annotation(row, 0);
                Size size = columns.imageSize(image);
                boxes++;
                outside += sticksOut(box, size) ? 1 : 0;
                fitting +=
                        box.x() < box.width()
                                        && box.y() < box.height()
                                        && box.width() <= size.width() + TOLERANCE
                                        && box.height() <= size.height() + TOLERANCE
                                ? 1
                                : 0;
            }
        }
        return outside > 0.2 * boxes && fitting > 0.98 * boxes;
    }

    private static boolean sticksOut(Annotation box, Size image) {
        return box.x() < -TOLERANCE
                || box.y() < -TOLERANCE
                || box.x() + box.width() > image.width() + TOLERANCE
                || box.y() + box.height() > image.height() + TOLERANCE;
    }

    private static boolean isOutside(Annotation box, Size image) {
        return box.x() >= image.width()
                || box.y() >= image.height()
                || box.x() + box.width() <= 0
                || box.y() + box.height() <= 0;
    }
}
