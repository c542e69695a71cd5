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
 * Checks boxes and outlines of objects. Reports mostly warnings, since training drops or clips
 * faulty objects, but an error if training drops most objects.
 *
 * @param file name of the data set in messages
 * @param selectedIds ids of the selected categories
 * @param masked ids of categories that need outlines; empty unless masks are trained
 */
public record ObjectCheck(
        AnnotationTable table, String file, Set<Long> selectedIds, Set<Long> masked) {

    /** Tolerance in pixels; boxes of COCO's own files exceed their images by fractions. */
    static final double TOLERANCE = 1;

    private static final double MOST = 0.5;

    /** Reports faults of boxes and outlines: of objects in file order, and of the whole file. */
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
                    "no object has a segmentation, but the model trains on masks; add outlines, or"
                            + " train a box-only model");
        }
        for (LabeledObject object : objects) {
            if (format.isEmpty()) {
                checkBox(object, faults);
            }
            boolean isRequired = !boxesOnly && masked.contains(object.row().categoryId());
            checkOutline(object, isRequired, outlines, faults);
        }
        outlines.fault(!masked.isEmpty()).ifPresent(fault -> faults.error(file, "%s", fault));
        DuplicateObjects.warning(table, file, selectedIds).ifPresent(faults);
    }

    /**
     * Returns a fault if training drops all objects of selected classes, or more than half of the
     * objects that are neither crowds nor ignored.
     */
    private Optional<String> mostAreDropped(List<LabeledObject> all) {
        Map<DropReason, Integer> dropped = new EnumMap<>(DropReason.class);
        int objects = 0;
        int expected = 0;
        int lost = 0;
        String first = "";
        for (LabeledObject object : all) {
            if (!selectedIds.contains(object.row().categoryId())) {
                continue;
            }
            Annotation annotation = object.row().withoutOutline(0);
            Optional<DropReason> reason = DropReason.of(annotation, object.image().size());
            reason.ifPresent(why -> dropped.merge(why, 1, Integer::sum));
            boolean isLost = reason.filter(DropReason::isUnintended).isPresent();
            objects++;
            expected += reason.isEmpty() || isLost ? 1 : 0;
            lost += isLost ? 1 : 0;
            if (isLost && first.isEmpty()) {
                first = "; the first dropped object is " + object.subject();
            }
        }
        if (objects == 0 || (lost < expected && lost <= MOST * expected)) {
            return Optional.empty();
        }
        String reasons =
                dropped.entrySet().stream()
                        .map(each -> each.getKey() + " (" + each.getValue() + ")")
                        .collect(Collectors.joining(", "));
        return Optional.of(
                Text.format(
                        "training uses only %d of %d objects; the rest are %s%s",
                        expected - lost, objects, reasons, first));
    }

    private void checkBox(LabeledObject object, Reporter faults) {
        Bbox box = object.row().box();
        Size image = object.image().size();
        String fault = "";
        if (box.width() <= 0 || box.height() <= 0) {
            fault = "has no area; training drops it";
        } else if (box.width() < 1 || box.height() < 1) {
            fault = "is thinner than a pixel; training drops it";
        } else if (areApart(box, new Bbox(0, 0, image.width(), image.height()))) {
            fault = "lies outside of the image of " + image.widthFirst() + "; training drops it";
        } else if (box.x() < -TOLERANCE
                || box.y() < -TOLERANCE
                || box.x() + box.width() > image.width() + TOLERANCE
                || box.y() + box.height() > image.height() + TOLERANCE) {
            fault = "exceeds the image of " + image.widthFirst() + "; training clips it";
        }
        if (!fault.isEmpty()) {
            faults.warningAt(file, object.subject(), "bbox %s %s", box, fault);
        }
        if (object.row().area() <= 0) {
            faults.warningAt(
                    file,
                    object.subject(),
                    "area is %s; training drops the object",
                    object.row().area());
        }
    }

    private void checkOutline(
            LabeledObject object, boolean isRequired, OutlineFit outlines, Reporter faults) {
        Annotation annotation = object.row().annotation(0);
        Size image = object.image().size();
        String subject = object.subject();
        if (!object.row().hasOutline()) {
            if (isRequired && TrainingTargets.isUsable(annotation, image)) {
                faults.errorAt(
                        file,
                        subject,
                        "has no segmentation, but the model trains on masks;" + " add it");
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
                        "segmentation lies outside of bbox %s, so its mask is empty",
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
