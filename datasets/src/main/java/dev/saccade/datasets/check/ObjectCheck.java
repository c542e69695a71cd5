package dev.saccade.datasets.check;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Annotation.Bbox;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.AnnotationTable.LabeledObject;
import dev.saccade.datasets.AnnotationTable.Row;
import dev.saccade.datasets.DropReason;
import dev.saccade.datasets.TrainingTargets;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Checks boxes and outlines of objects. None of these faults keeps a data set from being opened:
 * training drops or clips such objects, which may not be what was meant. It is an error if it drops
 * most of them.
 *
 * @param file the data set, for messages
 * @param wanted the categories that count
 * @param masked the categories whose objects need outlines; none if no masks are trained
 */
public record ObjectCheck(AnnotationTable table, String file, Set<Long> wanted, Set<Long> masked) {

    /** Boxes of the official files stick out by fractions of a pixel. */
    static final double TOLERANCE = 1;

    /** Above this fraction of dropped objects, the whole file is at fault. */
    private static final double MOST = 0.5;

    /** Reports faults of all objects together first, then of each in the order of the file. */
    public void check(Reporter faults) {
        List<LabeledObject> objects = table.objects();
        OutlineFit outlines = new OutlineFit();
        Optional<String> format = BoxFormat.fault(table);
        format.or(() -> mostAreDropped(objects))
                .ifPresent(fault -> faults.error(file, "%s", fault));
        boolean boxesOnly =
                !masked.isEmpty()
                        && !table.annotations().isEmpty()
                        && table.annotations().stream().noneMatch(Row::hasOutline);
        if (boxesOnly) {
            faults.error(
                    file,
                    "no object has a segmentation, but the model learns masks; expected outlines,"
                            + " or a model of boxes alone");
        }
        for (LabeledObject object : objects) {
            if (format.isEmpty()) {
                checkBox(object, faults);
            }
            boolean isRequired = !boxesOnly && masked.contains(object.row().categoryId());
            checkOutline(object, isRequired, outlines, faults);
        }
        outlines.fault(!masked.isEmpty()).ifPresent(fault -> faults.error(file, "%s", fault));
        DuplicateObjects.warning(table, file, wanted).ifPresent(faults);
    }

    /**
     * Returns a fault if training drops all objects of wanted classes, or more than half of those
     * that are neither crowds nor ignored on purpose.
     */
    private Optional<String> mostAreDropped(List<LabeledObject> all) {
        Map<DropReason, Integer> dropped = new EnumMap<>(DropReason.class);
        int objects = 0;
        int meant = 0;
        int lost = 0;
        String first = "";
        for (LabeledObject object : all) {
            if (!wanted.contains(object.row().categoryId())) {
                continue;
            }
            Annotation annotation = object.row().withoutOutline(0);
            Optional<DropReason> reason = DropReason.of(annotation, object.image().size());
            reason.ifPresent(why -> dropped.merge(why, 1, Integer::sum));
            boolean isLost = reason.filter(DropReason::isUnintended).isPresent();
            objects++;
            meant += reason.isEmpty() || isLost ? 1 : 0;
            lost += isLost ? 1 : 0;
            if (isLost && first.isEmpty()) {
                first = "; the first is " + object.subject();
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

    private void checkBox(LabeledObject object, Reporter faults) {
        Bbox box = object.row().box();
        Size image = object.image().size();
        String fault = "";
        if (box.width() <= 0 || box.height() <= 0) {
            fault = "has no area, it is dropped";
        } else if (box.width() < 1 || box.height() < 1) {
            fault = "is thinner than a pixel, it is dropped";
        } else if (areApart(box, new Bbox(0, 0, image.width(), image.height()))) {
            fault = "lies outside of " + image.widthFirst() + ", it is dropped";
        } else if (box.x() < -TOLERANCE
                || box.y() < -TOLERANCE
                || box.x() + box.width() > image.width() + TOLERANCE
                || box.y() + box.height() > image.height() + TOLERANCE) {
            fault = "sticks out of " + image.widthFirst() + ", it is clipped";
        }
        if (!fault.isEmpty()) {
            faults.warningAt(file, object.subject(), "bbox %s %s", box, fault);
        }
        if (object.row().area() <= 0) {
            faults.warningAt(file, object.subject(), "area %s, it is dropped", object.row().area());
        }
    }

    private void checkOutline(
            LabeledObject object, boolean isRequired, OutlineFit outlines, Reporter faults) {
        Annotation annotation = object.row().annotation(0);
        Size image = object.image().size();
        String subject = object.subject();
        if (!object.row().hasOutline()) {
            if (isRequired && TrainingTargets.isUsable(annotation, image)) {
                faults.errorAt(file, subject, "has no segmentation to train a mask on");
            }
            return;
        }
        try {
            Rle mask = annotation.segmentation().mask(image);
            outlines.add(annotation.box(), mask, image, subject);
            if (mask.area() == 0) {
                faults.warningAt(file, subject, "segmentation covers no pixel");
            } else if (areApart(annotation.box(), OutlineFit.bounds(mask))) {
                faults.warningAt(
                        file,
                        subject,
                        "segmentation lies outside of bbox %s: its mask is empty",
                        annotation.box());
            }
        } catch (SaccadeException e) {
            faults.errorAt(file, subject, "segmentation: %s", e.getMessage());
        }
    }

    private static boolean areApart(Bbox a, Bbox b) {
        return a.x() >= b.x() + b.width()
                || a.y() >= b.y() + b.height()
                || a.x() + a.width() <= b.x()
                || a.y() + a.height() <= b.y();
    }
}
