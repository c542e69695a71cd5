package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Training targets of an image, as in mmdetection 2.x {@code CocoDataset}: usable objects in the
 * order of the file with unclipped boxes, and crowds as {@linkplain Instances#ignored ignored
 * regions}.
 */
public final class TrainingTargets {

    private static final int SMALLEST_SIDE = 32;

    private TrainingTargets() {}

    /** Returns boxes and labels of the {@linkplain #isUsable usable} objects, and the crowds. */
    public static Instances boxes(ImageFile image, List<Annotation> annotations) {
        return instances(usable(image, annotations))
                .withIgnored(crowds(image, annotations).boxes());
    }

    /** Returns boxes and labels of the crowds. */
    public static Instances crowds(ImageFile image, List<Annotation> annotations) {
        return instances(
                annotations.stream().filter(object -> isCrowd(object, image.size())).toList());
    }

    private static Instances instances(List<Annotation> annotations) {
        int[] labels = annotations.stream().mapToInt(Annotation::label).toArray();
        return Instances.groundTruth(boxes(annotations), labels);
    }

    /**
     * Returns boxes, labels and masks of the {@linkplain #isUsable usable} objects. Masks have the
     * size of the image; the mask of a very thin outline may be empty.
     *
     * @throws SaccadeException of kind user that names file and annotation, if an outline is
     *     missing or invalid
     */
    public static Instances masks(ImageFile image, List<Annotation> annotations) {
        return boxes(image, annotations)
                .withMasks(
                        usable(image, annotations).stream()
                                .map(annotation -> mask(image, annotation))
                                .toList());
    }

    private static List<Annotation> usable(ImageFile image, List<Annotation> annotations) {
        return annotations.stream().filter(object -> isUsable(object, image.size())).toList();
    }

    private static Boxes boxes(List<Annotation> annotations) {
        float[] corners = new float[4 * annotations.size()];
        for (int i = 0; i < annotations.size(); i++) {
            Annotation.Bbox box = annotations.get(i).box();
            corners[4 * i] = (float) box.x();
            corners[4 * i + 1] = (float) box.y();
            corners[4 * i + 2] = (float) (box.x() + box.width());
            corners[4 * i + 3] = (float) (box.y() + box.height());
        }
        return Boxes.of(corners);
    }

    private static Rle mask(ImageFile image, Annotation annotation) {
        if (annotation.segmentation() instanceof Segmentation.None) {
            throw SaccadeException.user(
                    "%s: annotation %d has no segmentation, but the model trains on masks; add it,"
                            + " or train a box-only model",
                    image.file(), annotation.id());
        }
        try {
            return annotation.segmentation().mask(image.size());
        } catch (SaccadeException e) {
            throw SaccadeException.user(
                    "%s: annotation %d: segmentation: %s",
                    image.file(), annotation.id(), e.getMessage());
        }
    }

    static Set<Integer> classes(ImageFile image, List<Annotation> annotations) {
        return annotations.stream()
                .filter(annotation -> annotation.label() >= 0)
                .filter(object -> DropReason.ofNonCrowd(object, image.size()).isEmpty())
                .map(Annotation::label)
                .collect(Collectors.toSet());
    }

    /** Returns whether an object is trained on; see {@link DropReason}. */
    public static boolean isUsable(Annotation annotation, Size image) {
        return DropReason.of(annotation, image).isEmpty();
    }

    private static boolean isCrowd(Annotation annotation, Size image) {
        return annotation.label() >= 0
                && annotation.crowd()
                && DropReason.ofNonCrowd(annotation, image).isEmpty();
    }

    /**
     * Returns whether an image is trained on: it has an object of a selected class, including
     * crowds, tiny and ignored objects, and no side below 32 pixels. Without a usable object it is
     * trained on as background.
     */
    public static boolean keeps(ImageFile image, List<Annotation> annotations) {
        return isLargeEnough(image.size())
                && annotations.stream().anyMatch(annotation -> annotation.label() >= 0);
    }

    public static boolean isLargeEnough(Size image) {
        return Math.min(image.width(), image.height()) >= SMALLEST_SIDE;
    }
}
