package dev.saccade.datasets.check;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Annotation.Bbox;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.Dropped;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.TrainingTargets;

import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Checks boxes and outlines of objects. None of these faults keeps a data set from being opened:
 * training drops or clips such objects, which may not be what was meant. It is an error if it drops
 * most of them.
 */
public final class ObjectCheck {

    /** Boxes of the official files stick out by fractions of a pixel. */
    static final double TOLERANCE = 1;

    /** Above this fraction of dropped objects, the whole file is at fault. */
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
     * @param masked the categories whose objects need outlines; none if no masks are trained
     */
    public ObjectCheck(AnnotationTable table, String file, Set<Long> wanted, Set<Long> masked) {
        this.table = table;
        this.file = file;
        this.wanted = wanted;
        this.masked = masked;
        this.images = table.imagesById();
    }

    /** Reports faults of all objects together first, then of each in the order of the file. */
    public void check(Reporter faults) {
        Optional<String> format = BoxFormat.fault(table);
        format.or(this::mostAreDropped).ifPresent(fault -> faults.error(file, "%s", fault));
        boolean boxesOnly =
                !masked.isEmpty() && !table.annotationIds().isEmpty() && !table.hasOutlines();
        if (boxesOnly) {
            faults.error(
                    file,
                    "no object has a segmentation, but the model learns masks; expected outlines,"
                            + " or a model of boxes alone");
        }
        for (int row = 0; row < table.annotationIds().length(); row++) {
            Integer image = images.get(table.annotationImageIds().get(row));
            if (image != null) {
                Annotation object = table.annotation(row, 0);
                Row check = new Row(object, table.imageSize(image), subject(object, image), faults);
                if (format.isEmpty()) {
                    check.checkBox();
                }
                check.checkOutline(
                        !boxesOnly && masked.contains(table.annotationCategoryIds().get(row)));
            }
        }
        outlines.fault(!masked.isEmpty()).ifPresent(fault -> faults.error(file, "%s", fault));
        RepeatedObjects.warning(table, file, wanted).ifPresent(faults);
    }

    /**
     * Returns a fault if training drops all objects of wanted classes, or more than half of those
     * that are neither crowds nor ignored on purpose.
     */
    private Optional<String> mostAreDropped() {
        Map<Dropped, Integer> dropped = new EnumMap<>(Dropped.class);
        int objects = 0;
        int meant = 0;
        int lost = 0;
        String first = "";
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
                first = "; the first is " + subject(object, image);
            }
        }
        if (objects == 0 || (lost < meant && lost <= MOST * meant)) {
            return Optional.empty();
        }
        String reasons =
                dropped.entrySet().stream()
                        .map(each -> each.getKey() + " (" + each.getValue() + ")")
                        .collect(Collectors.joining(", "));
        return Optional.of(
                Text.format(
                        "%d of %d objects are left for training, the others are %s%s",
                        meant - lost, objects, reasons, first));
    }

    private String subject(Annotation annotation, int image) {
        return Text.format(
                "annotation %d of image %d (%s)",
                annotation.id(), table.imageIds().get(image), table.fileNames().get(image));
    }

    /** The check of one object. */
    private final class Row {

        private final Annotation object;
        private final Bbox box;
        private final Size image;
        private final String subject;
        private final Reporter faults;

        Row(Annotation object, Size image, String subject, Reporter faults) {
            this.object = object;
            this.box = object.box();
            this.image = image;
            this.subject = subject;
            this.faults = faults;
        }

        @FormatMethod
        private void error(@FormatString String message, Object... args) {
            faults.accept(Finding.error(file, subject, Text.format(message, args)));
        }

        @FormatMethod
        private void warning(@FormatString String message, Object... args) {
            faults.accept(Finding.warning(file, subject, Text.format(message, args)));
        }

        void checkBox() {
            double right = box.x() + box.width();
            double bottom = box.y() + box.height();
            if (box.width() <= 0 || box.height() <= 0) {
                warning("bbox %s has no area, it is dropped", box);
            } else if (box.width() < 1 || box.height() < 1) {
                warning("bbox %s is thinner than a pixel, it is dropped", box);
            } else if (areApart(box, new Bbox(0, 0, image.width(), image.height()))) {
                warning("bbox %s lies outside of %s, it is dropped", box, image.widthFirst());
            } else if (box.x() < -TOLERANCE
                    || box.y() < -TOLERANCE
                    || right > image.width() + TOLERANCE
                    || bottom > image.height() + TOLERANCE) {
                warning("bbox %s sticks out of %s, it is clipped", box, image.widthFirst());
            }
            if (object.area() <= 0) {
                warning("area %s, it is dropped", object.area());
            }
        }

        void checkOutline(boolean isRequired) {
            if (object.segmentation() instanceof Segmentation.None) {
                if (isRequired && TrainingTargets.isUsable(object, image)) {
                    error("has no segmentation to train a mask on");
                }
                return;
            }
            try {
                Rle mask = object.segmentation().mask(image);
                outlines.add(box, mask, image, subject);
                if (mask.area() == 0) {
                    warning("segmentation covers no pixel");
                } else if (areApart(box, OutlineFit.bounds(mask))) {
                    warning("segmentation lies outside of bbox %s: its mask is empty", box);
                }
            } catch (SaccadeException e) {
                error("segmentation: %s", e.getMessage());
            }
        }
    }

    private static boolean areApart(Bbox a, Bbox b) {
        return a.x() >= b.x() + b.width()
                || a.y() >= b.y() + b.height()
                || a.x() + a.width() <= b.x()
                || a.y() + a.height() <= b.y();
    }
}
