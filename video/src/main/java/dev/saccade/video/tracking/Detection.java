package dev.saccade.video.tracking;

import dev.saccade.core.SaccadeException;
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
    static List<Detection> of(List<DetectedObject> objects) {
        return objects.stream()
                .filter(each -> each.box().width() > 0 && each.box().height() > 0)
                .map(Detection::new)
                .toList();
    }

    Box box() {
        return object.box();
    }

    double score() {
        return object.score();
    }

    /** Returns the mask; throws if the model predicts none. */
    MaskColumns mask() {
        if (mask == null) {
            mask =
                    new MaskColumns(
                            object.mask()
                                    .orElseThrow(
                                            () ->
                                                    SaccadeException.user(
                                                            "tracker.similarity: mask needs a"
                                                                    + " detector that predicts masks;"
                                                                    + " use box")));
        }
        return mask;
    }
}
