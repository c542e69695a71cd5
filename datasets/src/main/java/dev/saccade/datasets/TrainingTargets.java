package dev.saccade.datasets;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;

import java.util.ArrayList;
import java.util.List;

/**
 * What a detector is trained on in one photograph, following mmdetection 2.x {@code CocoDataset}.
 *
 * @param instances boxes, not clipped, and labels; in the order of the file
 * @param segmentations the outline of each of them
 */
public record TrainingTargets(Instances instances, List<Segmentation> segmentations) {

    private static final int SMALLEST_SIDE = 32;

    /** Keeps a copy of the list. */
    public TrainingTargets {
        segmentations = List.copyOf(segmentations);
    }

    /**
     * Returns the usable objects of a photograph: not ignored, touching the image, with an area, at
     * least one pixel wide and high, of a wanted class, no crowd.
     */
    public static TrainingTargets of(Photo photo, List<Annotation> annotations) {
        List<Annotation> usable = new ArrayList<>();
        for (Annotation annotation : annotations) {
            if (isUsable(photo, annotation)) {
                usable.add(annotation);
            }
        }
        float[] corners = new float[4 * usable.size()];
        int[] labels = new int[usable.size()];
        for (int i = 0; i < labels.length; i++) {
            Annotation annotation = usable.get(i);
            corners[4 * i] = (float) annotation.x();
            corners[4 * i + 1] = (float) annotation.y();
            corners[4 * i + 2] = (float) (annotation.x() + annotation.width());
            corners[4 * i + 3] = (float) (annotation.y() + annotation.height());
            labels[i] = annotation.label();
        }
        return new TrainingTargets(
                Instances.groundTruth(Boxes.of(corners), labels),
                usable.stream().map(Annotation::segmentation).toList());
    }

    private static boolean isUsable(Photo photo, Annotation annotation) {
        double right = Math.min(annotation.x() + annotation.width(), photo.size().width());
        double bottom = Math.min(annotation.y() + annotation.height(), photo.size().height());
        boolean touchesImage =
                right > Math.max(annotation.x(), 0) && bottom > Math.max(annotation.y(), 0);
        return !annotation.ignore()
                && touchesImage
                && annotation.area() > 0
                && annotation.width() >= 1
                && annotation.height() >= 1
                && annotation.label() >= 0
                && !annotation.crowd();
    }

    /**
     * Returns whether a photograph is trained on at all: an object of a wanted class, be it crowd,
     * tiny or ignored, and no side below 32 pixels. It may turn out to have no usable object and is
     * background then.
     */
    public static boolean keeps(Photo photo, List<Annotation> annotations) {
        return Math.min(photo.size().width(), photo.size().height()) >= SMALLEST_SIDE
                && annotations.stream().anyMatch(annotation -> annotation.label() >= 0);
    }
}
