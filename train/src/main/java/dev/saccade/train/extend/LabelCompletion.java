package dev.saccade.train.extend;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Annotation;
import dev.saccade.models.ScoreThresholds;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Adds predicted objects of unlabeled classes to the labels of an image, so that they are not
 * trained as background (pseudo labels, as in Shmelkov et al. 2017 and Feng et al. 2022).
 *
 * <p>A detection that reaches the score threshold of its class is an object. A detection with at
 * least half of this score is an ignored region, unless it covers more than half of an object.
 * Detections with an IoU of at least 0.5 with a labeled object, or with an added object of any
 * class and a higher score, are dropped.
 *
 * @param classes classes of the completed labels
 * @param added classes whose detections are added
 */
record LabelCompletion(List<String> classes, Set<String> added, ScoreThresholds thresholds) {

    private static final double SAME_OBJECT = 0.5;
    private static final double COVERED = 0.5;
    private static final double UNCERTAIN = 0.5;

    /** Labels of an image: {@code objects} and {@code ignored} count the added annotations. */
    record Completed(List<Annotation> annotations, int objects, int ignored) {

        /**
         * Returns whether an object is labeled or added; crowds and ignored objects do not count.
         */
        boolean hasObjects() {
            return annotations.stream().anyMatch(Completed::isObject);
        }

        private static boolean isObject(Annotation annotation) {
            return annotation.label() >= 0 && !annotation.crowd() && !annotation.ignore();
        }
    }

    /**
     * Completes the labels of an image.
     *
     * @param labeled annotations with labels of {@link #classes}
     * @param detections predictions in descending order of score
     * @param predicted class names of the predictions
     */
    Completed complete(List<Annotation> labeled, Instances detections, List<String> predicted) {
        List<Annotation> all = new ArrayList<>(labeled);
        Boxes objects = boxes(labeled.stream().filter(Completed::isObject).toList());
        List<Integer> uncertain = new ArrayList<>();
        int count = 0;
        for (int i = 0; i < detections.size(); i++) {
            String name = predicted.get(detections.label(i));
            double threshold = thresholds.of(name);
            boolean isCandidate =
                    added.contains(name)
                            && detections.score(i) >= UNCERTAIN * threshold
                            && detections.boxes().area(i) > 0
                            && (!detections.hasMasks() || detections.mask(i).area() > 0);
            if (!isCandidate || overlaps(detections.boxes(), i, objects)) {
                continue;
            }
            if (detections.score(i) >= threshold) {
                all.add(annotation(detections, i, classes.indexOf(name)));
                objects = Boxes.concat(List.of(objects, detections.boxes().select(i)));
                count++;
            } else {
                uncertain.add(i);
            }
        }
        int ignored = 0;
        for (int i : uncertain) {
            if (!covers(detections.boxes(), i, objects)) {
                String name = predicted.get(detections.label(i));
                all.add(region(annotation(detections, i, classes.indexOf(name))));
                ignored++;
            }
        }
        return new Completed(all, count, ignored);
    }

    private static boolean overlaps(Boxes boxes, int i, Boxes objects) {
        Boxes both = Boxes.concat(List.of(boxes.select(i), objects));
        for (int k = 1; k < both.size(); k++) {
            if (both.iou(0, k) >= SAME_OBJECT) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether a region covers more than half of an object. Assigners match no prior inside
     * a region, so the object would not be trained.
     */
    private static boolean covers(Boxes boxes, int i, Boxes objects) {
        for (int k = 0; k < objects.size(); k++) {
            float width =
                    Math.min(boxes.x2(i), objects.x2(k)) - Math.max(boxes.x1(i), objects.x1(k));
            float height =
                    Math.min(boxes.y2(i), objects.y2(k)) - Math.max(boxes.y1(i), objects.y1(k));
            if (width > 0 && height > 0 && width * height > COVERED * objects.area(k)) {
                return true;
            }
        }
        return false;
    }

    private static Boxes boxes(List<Annotation> annotations) {
        float[] corners = new float[4 * annotations.size()];
        for (int k = 0; k < annotations.size(); k++) {
            Annotation.Bbox box = annotations.get(k).box();
            corners[4 * k] = (float) box.x();
            corners[4 * k + 1] = (float) box.y();
            corners[4 * k + 2] = (float) (box.x() + box.width());
            corners[4 * k + 3] = (float) (box.y() + box.height());
        }
        return Boxes.of(corners);
    }

    private static Annotation annotation(Instances detections, int i, int label) {
        Boxes boxes = detections.boxes();
        return detections.hasMasks()
                ? Annotation.of(0, label, detections.mask(i))
                : Annotation.of(
                        0, label, boxes.x1(i), boxes.y1(i), boxes.width(i), boxes.height(i));
    }

    private static Annotation region(Annotation object) {
        return new Annotation(
                object.id(),
                object.label(),
                object.box(),
                object.area(),
                object.segmentation(),
                EnumSet.of(Annotation.Flag.CROWD));
    }
}
