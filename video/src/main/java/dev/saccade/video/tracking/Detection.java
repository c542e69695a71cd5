package dev.saccade.video.tracking;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.models.Box;
import dev.saccade.models.DetectedObject;

import java.util.List;

/** A detection of a frame; its mask is converted on first use. */
final class Detection {

    final DetectedObject object;
    private MaskColumns mask;

    Detection(DetectedObject object) {
        this.object = object;
    }

    /** Wraps objects; omits boxes without area. */
    static List<Detection> of(List<DetectedObject> objects, Similarity similarity) {
        objects.forEach(each -> check(each, similarity));
        return objects.stream()
                .filter(each -> each.box().width() > 0 && each.box().height() > 0)
                .map(Detection::new)
                .toList();
    }

    private static void check(DetectedObject object, Similarity similarity) {
        if (similarity == Similarity.MASK && object.mask().isEmpty()) {
            throw SaccadeException.user(
                    "tracker.similarity: mask needs a detector that predicts masks; use box");
        }
        double score = object.score();
        Box box = object.box();
        boolean isValid = Coordinates.areValid(box.x1(), box.y1(), box.x2(), box.y2());
        if (!isValid || !(score >= 0 && score <= 1)) {
            throw new IllegalArgumentException(
                    Text.format(
                            "detections: got score %s and %s, expected a score from 0 to 1 and"
                                    + " corners in pixels",
                            score, box));
        }
    }

    Box box() {
        return object.box();
    }

    double score() {
        return object.score();
    }

    MaskColumns mask() {
        if (mask == null) {
            mask = new MaskColumns(object.mask().orElseThrow());
        }
        return mask;
    }
}
