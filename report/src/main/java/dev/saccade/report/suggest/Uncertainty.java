package dev.saccade.report.suggest;

import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.InferenceReader;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.models.Detector;
import dev.saccade.models.ScoreThresholds;

import java.util.List;

/**
 * Uncertainty of the detections in an image: scores near the score threshold, and objects that
 * differ between the image and its horizontal flip. Both are summed over the objects.
 *
 * @param value 0 or more
 * @param objects detections that reach the threshold
 * @param uncertain detections with a score near the threshold
 * @param changed objects that differ in the flipped image
 */
record Uncertainty(double value, int objects, int uncertain, int changed) {

    /** Minimum IoU of an object and its detection in the flipped image. */
    private static final double SAME_IOU = 0.5;

    /** Detections whose certainty is below this count as uncertain. */
    private static final double UNCERTAIN = 0.5;

    /** Compares detections with those in the flipped image. */
    static Uncertainty of(
            Instances objects,
            Instances flipped,
            List<String> classes,
            ScoreThresholds thresholds) {
        double value = 0;
        int accepted = 0;
        int uncertain = 0;
        for (int i = 0; i < objects.size(); i++) {
            double probability = probability(objects, i, classes, thresholds);
            double doubt = 1 - Math.abs(2 * probability - 1);
            value += doubt;
            accepted += probability >= 0.5 ? 1 : 0;
            uncertain += doubt > UNCERTAIN ? 1 : 0;
        }
        double[] changes = new double[2];
        addChanges(objects, flipped, classes, thresholds, changes);
        addChanges(flipped, objects, classes, thresholds, changes);
        return new Uncertainty(value + changes[0], accepted, uncertain, (int) changes[1]);
    }

    /** Returns the detections in the horizontally flipped image, in pixels of the image. */
    static Instances predictFlipped(Detector detector, ImageSource image) {
        TestTimeAugmentation flip = new TestTimeAugmentation(List.of(), true);
        InferenceReader reader =
                new InferenceReader(
                        List.of(detector.withTta(flip).pipelines().get(1)),
                        detector.spec().pixels());
        try (InferenceInput input = reader.read(List.of(image))) {
            return detector.predict(input);
        }
    }

    /** Maps a score to 0 to 1, so that the threshold of its class becomes 0.5. */
    private static double probability(
            Instances objects, int i, List<String> classes, ScoreThresholds thresholds) {
        double threshold = thresholds.of(classes.get(objects.label(i)));
        double score = objects.score(i);
        return score < threshold
                ? score / (2 * threshold)
                : threshold >= 1 ? 1 : 0.5 + (score - threshold) / (2 * (1 - threshold));
    }

    /** Adds the doubt about accepted objects, and the number of objects without a counterpart. */
    private static void addChanges(
            Instances objects,
            Instances others,
            List<String> classes,
            ScoreThresholds thresholds,
            double[] changes) {
        for (int i = 0; i < objects.size(); i++) {
            double probability = probability(objects, i, classes, thresholds);
            if (probability < 0.5) {
                continue;
            }
            double agreement = 0;
            for (int j = 0; j < others.size(); j++) {
                double iou = iou(objects.boxes(), i, others.boxes(), j);
                if (others.label(j) == objects.label(i) && iou >= SAME_IOU) {
                    agreement = Math.max(agreement, probability(others, j, classes, thresholds));
                }
            }
            changes[0] += Math.max(0, probability - agreement);
            changes[1] += agreement < 0.5 ? 1 : 0;
        }
    }

    private static double iou(Boxes a, int i, Boxes b, int j) {
        double width = Math.min(a.x2(i), b.x2(j)) - Math.max(a.x1(i), b.x1(j));
        double height = Math.min(a.y2(i), b.y2(j)) - Math.max(a.y1(i), b.y1(j));
        double shared = Math.max(width, 0) * Math.max(height, 0);
        return shared == 0 ? 0 : shared / (a.area(i) + b.area(j) - shared);
    }

    String reason() {
        return Text.format(
                "%s, %s near the threshold; %d change when flipped",
                Count.of(objects, "detection"), Count.of(uncertain, "candidate"), changed);
    }
}
