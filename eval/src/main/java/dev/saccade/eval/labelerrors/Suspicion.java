package dev.saccade.eval.labelerrors;

import java.util.List;

/**
 * Log odds that a label is wrong, from the model's precision and recall of each class.
 *
 * <p>The evidence for an error is how precise the conflicting detections are at their score, and
 * how rarely other labels of the class have so little support: ObjectLab (Tkachenko et al. 2023)
 * combines similar evidence. The constants are the log prior odds of each kind, chosen on data with
 * known errors (benchmarks/label_errors.py).
 */
record Suspicion(
        List<ScorePrecision> precisions, List<Distribution> supports, List<Distribution> ious) {

    /** Log odds of 0 for each kind are about as likely to be an error as not. */
    private static final double MISSING = -1.5;

    private static final double CLASS = -1;
    private static final double BOX = -4;
    private static final double SPURIOUS = -6;

    static Suspicion of(List<ClassStatistics> statistics) {
        return new Suspicion(
                statistics.stream().map(ClassStatistics::precision).toList(),
                statistics.stream().map(ClassStatistics::supports).toList(),
                statistics.stream().map(ClassStatistics::ious).toList());
    }

    /** A detection without a label; {@code overlap} is its IoU with other objects, below 0.5. */
    double missing(int label, double score, double overlap) {
        return MISSING + logit(label, score) + 2 * Math.log1p(-2 * overlap);
    }

    /** A label whose class has a support, and a detection of another class. */
    double wrongClass(int label, double support, int other, double score) {
        return CLASS + logit(other, score) - logRarity(label, support);
    }

    /** A label with a support, and a detection of its class. */
    double badBox(int label, double support, double score, double iou) {
        double rarity = Math.log(ious.get(label).upTo(iou)) + logRarity(label, support);
        return BOX + 2 * Math.log(precisions.get(label).at(score)) - rarity / 2;
    }

    double spurious(int label, double support) {
        return SPURIOUS - logRarity(label, support);
    }

    private double logRarity(int label, double support) {
        return Math.log(supports.get(label).upTo(support));
    }

    private double logit(int label, double score) {
        double precision = precisions.get(label).at(score);
        return Math.log(precision / (1 - precision));
    }
}
