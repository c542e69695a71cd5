package dev.saccade.eval.tide;

import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.ImageIndex;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.coco.PairwiseIou;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Optional;
import java.util.function.IntPredicate;

/**
 * Says of every detection whether it is right and, if not, which {@link DetectionError} it is; as
 * TIDE's own code does, down to the ends of its ranges.
 */
final class ErrorFinder {

    /** From this overlap on a detection covers an object. */
    private static final double FOREGROUND = 0.5;

    /** Up to this overlap it has nothing to do with it. */
    private static final double BACKGROUND = 0.1;

    private static final int NONE = -1;

    private final GroundTruth groundTruth;
    private final CocoDetections detections;
    private final PairwiseIou overlap;

    private final BitSet counted = new BitSet();
    private final BitSet right = new BitSet();
    private final BitSet inCrowd = new BitSet();
    private final BitSet found = new BitSet();
    private final DetectionError[] errors;

    /** The object that a detection would find if it were mended, by detection. */
    private final int[] targets;

    /** The surest detection that would find an object if it were mended, by object. */
    private final int[] menders;

    ErrorFinder(
            GroundTruth groundTruth,
            CocoDetections detections,
            IouType iouType,
            int mostDetections) {
        groundTruth.checkKnows(detections);
        this.groundTruth = groundTruth;
        this.detections = detections;
        this.overlap = PairwiseIou.of(iouType, groundTruth, detections);
        this.errors = new DetectionError[detections.size()];
        this.targets = new int[detections.size()];
        this.menders = new int[groundTruth.size()];
        Arrays.fill(targets, NONE);
        Arrays.fill(menders, NONE);
        ImageIndex byImage = new ImageIndex(groundTruth, detections);
        for (int image = 0; image < byImage.size(); image++) {
            int[] ofImage = byImage.detections(image);
            int[] surest = Arrays.copyOf(ofImage, Math.min(ofImage.length, mostDetections));
            match(surest, byImage.objects(image));
            explain(surest, byImage.objects(image));
        }
    }

    /** Returns whether a detection is among the surest of its image. */
    boolean counted(int detection) {
        return counted.get(detection);
    }

    /** Returns whether a detection finds an object of its class. */
    boolean right(int detection) {
        return right.get(detection);
    }

    /** Returns whether a detection that is not right lies in a crowd of its class. */
    boolean inCrowd(int detection) {
        return inCrowd.get(detection);
    }

    /** Returns what is wrong with a detection that counts and is not right. */
    DetectionError error(int detection) {
        return errors[detection];
    }

    /** Returns the object that a detection finds once it is mended, if it is the surest to. */
    Optional<Integer> mended(int detection) {
        int object = targets[detection];
        return object != NONE && menders[object] == detection
                ? Optional.of(object)
                : Optional.empty();
    }

    /** Returns whether nothing finds an object, however it is mended; crowds need not be found. */
    boolean missed(int object) {
        return !groundTruth.crowd(object) && !found.get(object) && menders[object] == NONE;
    }

    private void match(int[] ofImage, int[] objects) {
        for (int detection : ofImage) {
            counted.set(detection);
            int best = best(detection, objects, g -> sameClass(detection, g) && !found.get(g));
            if (best != NONE && overlap.iou(detection, best) >= FOREGROUND) {
                right.set(detection);
                found.set(best);
            } else {
                inCrowd.set(detection, liesInCrowd(detection, objects));
            }
        }
    }

    private boolean liesInCrowd(int detection, int[] objects) {
        return Arrays.stream(objects)
                .filter(g -> groundTruth.crowd(g) && sameClass(detection, g))
                .anyMatch(g -> overlap.iou(detection, g) > FOREGROUND);
    }

    private boolean sameClass(int detection, int object) {
        return detections.label(detection) == groundTruth.label(object);
    }

    /** Returns the object of a kind that a detection overlaps most, the first of equal ones. */
    private int best(int detection, int[] objects, IntPredicate kind) {
        int best = NONE;
        double bestIou = 0;
        for (int object : objects) {
            if (groundTruth.crowd(object) || !kind.test(object)) {
                continue;
            }
            double iou = overlap.iou(detection, object);
            if (iou > bestIou) {
                bestIou = iou;
                best = object;
            }
        }
        return best;
    }

    private void explain(int[] ofImage, int[] objects) {
        Arrays.stream(ofImage)
                .filter(detection -> !right.get(detection))
                .forEach(detection -> explain(detection, objects));
    }

    private void explain(int detection, int[] objects) {
        int own = best(detection, objects, g -> sameClass(detection, g));
        int other = best(detection, objects, g -> !sameClass(detection, g));
        double ownIou = own == NONE ? 0 : overlap.iou(detection, own);
        double otherIou = other == NONE ? 0 : overlap.iou(detection, other);
        if (ownIou >= BACKGROUND && ownIou <= FOREGROUND) {
            errors[detection] = DetectionError.LOCALIZATION;
            mend(detection, own);
        } else if (otherIou >= FOREGROUND) {
            errors[detection] = DetectionError.CLASSIFICATION;
            mend(detection, other);
        } else if (ownIou >= FOREGROUND) {
            errors[detection] = DetectionError.DUPLICATE;
        } else if (otherIou <= BACKGROUND) {
            errors[detection] = DetectionError.BACKGROUND;
        } else {
            errors[detection] = DetectionError.BOTH;
        }
    }

    private void mend(int detection, int object) {
        if (!found.get(object)) {
            targets[detection] = object;
            if (menders[object] == NONE) {
                menders[object] = detection;
            }
        }
    }
}
