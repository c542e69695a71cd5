package dev.saccade.datasets.check;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.Dropped;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.TrainingTargets;

import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Whether boxes and outlines of objects make sense in their images. Nothing here stops a data set
 * from being opened: such objects are dropped or clipped, which may not be what was meant. It is an
 * error where it befalls most of them.
 */
public final class ObjectCheck {

    /** Boxes of the official files stick out by fractions of a pixel. */
    static final double TOLERANCE = 1;

    /** From this share on, what training drops is no slip but a fault of the whole file. */
    private static final double MOST = 0.5;

    private final AnnotationTable table;
    private final String file;
    private final Set<Long> masked;
    private final Set<Long> wanted;
    private final Map<Long, Integer> images;
    private final OutlineFit outlines = new OutlineFit();

    /**
     * Prepares a check.
     *
     * @param wanted the categories that count
     * @param masked the categories whose objects need outlines; none if no masks are learned
     */
    public ObjectCheck(AnnotationTable table, String file, Set<Long> wanted, Set<Long> masked) {
        this.table = table;
        this.file = file;
        this.wanted = wanted;
        this.masked = masked;
        this.images = table.imagesById();
    }

    /** Reports every fault: those of all objects together first, then in the order of the file. */
    public void check(Consumer<Finding> findings) {
        Optional<String> format = BoxFormat.fault(table);
        format.or(this::mostAreDropped)
                .ifPresent(fault -> findings.accept(Finding.error(file, "", fault)));
        boolean boxesOnly =
                !masked.isEmpty() && !table.annotationIds().isEmpty() && !table.hasOutlines();
        if (boxesOnly) {
            findings.accept(
                    Finding.error(
                            file,
                            "",
                            "no object has a segmentation, but the model learns masks; expected"
                                    + " outlines, or a model of boxes alone"));
        }
        for (int row = 0; row < table.annotationIds().length(); row++) {
            Integer image = images.get(table.annotationImageIds().get(row));
            if (image != null) {
                Annotation annotation = table.annotation(row, 0);
                String subject = subject(annotation, image);
                Size size = table.imageSize(image);
                if (format.isEmpty()) {
                    checkBox(annotation, size, subject, findings);
                }
                if (!boxesOnly && masked.contains(table.annotationCategoryIds().get(row))) {
                    checkPresence(annotation, size, subject, findings);
                }
                checkOutline(annotation, size, subject, findings);
            }
        }
        outlines.fault(!masked.isEmpty())
                .ifPresent(fault -> findings.accept(Finding.error(file, "", fault)));
        RepeatedObjects.warning(table, file, wanted).ifPresent(findings);
    }

    /**
     * Tells if nothing is left of the objects that there are of wanted classes, or if more than
     * half of those that were meant to be learned are dropped. Crowds and ignored objects are not
     * among these: they are meant to be passed over.
     */
    private Optional<String> mostAreDropped() {
        Map<Dropped, Integer> dropped = new EnumMap<>(Dropped.class);
        int objects = 0;
        int meant = 0;
        int lost = 0;
        Optional<String> first = Optional.empty();
        for (int row = 0; row < table.annotationIds().length(); row++) {
            Integer image = images.get(table.annotationImageIds().get(row));
            if (image == null || !wanted.contains(table.annotationCategoryIds().get(row))) {
                continue;
            }
            Annotation object = table.withoutOutline(row, 0);
            Optional<Dropped> reason = Dropped.reason(object, table.imageSize(image));
            reason.ifPresent(why -> dropped.merge(why, 1, Integer::sum));
            boolean isLost = reason.filter(Dropped::isUnintended).isPresent();
            objects++;
            meant += reason.isEmpty() || isLost ? 1 : 0;
            lost += isLost ? 1 : 0;
            if (isLost && first.isEmpty()) {
                first = Optional.of("; the first is " + subject(object, image));
            }
        }
        if (objects == 0 || (lost < meant && lost <= MOST * meant)) {
            return Optional.empty();
        }
        return Optional.of(
                Text.format(
                        "%d of %d objects are left to learn, the others are %s%s",
                        meant - lost, objects, listed(dropped), first.orElse("")));
    }

    private static String listed(Map<Dropped, Integer> dropped) {
        return dropped.entrySet().stream()
                .map(some -> some.getKey() + " (" + some.getValue() + ")")
                .collect(Collectors.joining(", "));
    }

    private String subject(Annotation annotation, int image) {
        return Text.format(
                "annotation %d of image %d (%s)",
                annotation.id(), table.imageIds().get(image), table.fileNames().get(image));
    }

    private void checkBox(
            Annotation annotation, Size image, String subject, Consumer<Finding> findings) {
        Annotation.Bbox box = annotation.box();
        String bbox = "bbox " + box;
        if (box.width() <= 0 || box.height() <= 0) {
            findings.accept(Finding.warning(file, subject, bbox + " has no area, it is dropped"));
        } else if (box.width() < 1 || box.height() < 1) {
            findings.accept(
                    Finding.warning(
                            file, subject, bbox + " is thinner than a pixel, it is dropped"));
        } else if (isOutside(box, image)) {
            findings.accept(
                    Finding.warning(
                            file,
                            subject,
                            Text.format(
                                    "%s lies outside of %s, it is dropped",
                                    bbox, image.widthFirst())));
        } else if (sticksOut(box, image)) {
            findings.accept(
                    Finding.warning(
                            file,
                            subject,
                            Text.format(
                                    "%s sticks out of %s, it is clipped",
                                    bbox, image.widthFirst())));
        }
        if (annotation.area() <= 0) {
            findings.accept(
                    Finding.warning(
                            file, subject, "area " + annotation.area() + ", it is dropped"));
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
            Rle mask = annotation.segmentation().mask(image);
            outlines.add(annotation.box(), mask, image, subject);
            if (mask.area() == 0) {
                findings.accept(Finding.warning(file, subject, "segmentation covers no pixel"));
            } else if (areApart(annotation.box(), mask.bounds())) {
                findings.accept(
                        Finding.warning(
                                file,
                                subject,
                                Text.format(
                                        "segmentation lies outside of bbox %s: its mask is empty",
                                        annotation.box())));
            }
        } catch (SaccadeException e) {
            findings.accept(Finding.error(file, subject, "segmentation: " + e.getMessage()));
        }
    }

    private static boolean sticksOut(Annotation.Bbox box, Size image) {
        return box.x() < -TOLERANCE
                || box.y() < -TOLERANCE
                || box.x() + box.width() > image.width() + TOLERANCE
                || box.y() + box.height() > image.height() + TOLERANCE;
    }

    private static boolean areApart(Annotation.Bbox box, Rle.Bounds mask) {
        return box.x() >= mask.x() + mask.width()
                || box.y() >= mask.y() + mask.height()
                || box.x() + box.width() <= mask.x()
                || box.y() + box.height() <= mask.y();
    }

    private static boolean isOutside(Annotation.Bbox box, Size image) {
        return box.x() >= image.width()
                || box.y() >= image.height()
                || box.x() + box.width() <= 0
                || box.y() + box.height() <= 0;
    }
}
