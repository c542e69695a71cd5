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
 * What a detector is trained on in one photograph, following mmdetection 2.x {@code CocoDataset}:
 * the objects that are usable, in the order of the file, their boxes not clipped, and crowds as
 * {@linkplain Instances#ignored ignored regions}.
 */
public final class TrainingTargets {

    private static final int SMALLEST_SIDE = 32;

    private TrainingTargets() {}

    /** Returns boxes and labels of the {@linkplain #isUsable usable} objects, and the crowds. */
    public static Instances boxes(ImageFile image, List<Annotation> annotations) {
        List<Annotation> usable = usable(image, annotations);
        List<Annotation> crowds =
                annotations.stream().filter(object -> isCrowd(object, image.size())).toList();
        int[] labels = usable.stream().mapToInt(Annotation::label).toArray();
        return Instances.groundTruth(boxes(usable), labels).withIgnored(boxes(crowds));
    }

    /**
     * Returns boxes, labels and masks of the {@linkplain #isUsable usable} objects of an image.
     * Masks have its size; one may be empty where an outline is too thin to cover a pixel.
     *
     * @throws SaccadeException of kind user that names file and annotation, if an outline is
     *     missing or describes no mask of that size
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
                    "%s: annotation %d has no segmentation to learn a mask from",
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

    /** Returns the labels of the objects that are learned, and of the crowds. */
    static Set<Integer> classes(ImageFile image, List<Annotation> annotations) {
        return annotations.stream()
                .filter(annotation -> annotation.label() >= 0)
                .filter(object -> DropReason.ofNonCrowd(object, image.size()).isEmpty())
                .map(Annotation::label)
                .collect(Collectors.toSet());
    }

    /**
     * Returns whether an object is learned: not ignored, touching the image, with an area, at least
     * one pixel wide and high, of a wanted class, no crowd.
     */
    public static boolean isUsable(Annotation annotation, Size image) {
        return DropReason.of(annotation, image).isEmpty();
    }

    /** Returns whether an object is usable but for being a crowd. */
    private static boolean isCrowd(Annotation annotation, Size image) {
        return annotation.label() >= 0
                && annotation.crowd()
                && DropReason.ofNonCrowd(annotation, image).isEmpty();
    }

    /**
     * Returns whether a photograph is trained on at all: an object of a wanted class, be it crowd,
     * tiny or ignored, and no side below 32 pixels. It may turn out to have no usable object and is
     * background then.
     */
    public static boolean keeps(ImageFile image, List<Annotation> annotations) {
        return isLargeEnough(image.size())
                && annotations.stream().anyMatch(annotation -> annotation.label() >= 0);
    }

    /** Returns whether photographs of a size are trained on: no side is below 32 pixels. */
    public static boolean isLargeEnough(Size image) {
        return Math.min(image.width(), image.height()) >= SMALLEST_SIDE;
    }
}
