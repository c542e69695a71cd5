package dev.saccade.eval.labelerrors;

import java.util.ArrayList;
import java.util.List;

/** How the detections of a class agree with its labels, over all images. */
final class ClassStatistics {

    private final List<ScorePrecision.Outcome> outcomes = new ArrayList<>();
    private final List<Double> supports = new ArrayList<>();
    private final List<Double> ious = new ArrayList<>();

    void addDetection(double score, boolean isRight) {
        outcomes.add(new ScorePrecision.Outcome(score, isRight));
    }

    /** Adds a label with its highest detection score at IoU 0.5, 0 if there is none. */
    void addLabel(double support) {
        supports.add(support);
    }

    /** Adds the IoU of a label and its detection. */
    void addIou(double iou) {
        ious.add(iou);
    }

    /** Returns the precision of detections by score. */
    ScorePrecision precision() {
        return new ScorePrecision(outcomes);
    }

    /** Returns the distribution of the supporting scores of labels. */
    Distribution supports() {
        return new Distribution(supports);
    }

    /** Returns the distribution of the IoU of labels and their detections. */
    Distribution ious() {
        return new Distribution(ious);
    }
}
