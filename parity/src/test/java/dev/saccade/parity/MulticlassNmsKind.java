package dev.saccade.parity;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.heads.box.MulticlassNms;

/** Scored boxes to objects, with boxes of their own for every class or shared by all. */
final class MulticlassNmsKind implements Kind {

    private static final Tolerance PIXELS = Tolerance.absolute(1e-3);

    @Override
    public void run(Case recorded) {
        Settings config = recorded.config();
        int numClasses = config.integer("num_classes");
        MulticlassNms nms =
                new MulticlassNms(
                        config.number("score_thr"),
                        config.number("nms_iou"),
                        config.integer("max_per_img"));
        Boxes boxes = Boxes.of(recorded.array("bboxes").floats());
        MulticlassNms.Kept kept =
                nms.apply(boxes, withoutBackground(recorded.array("scores")), numClasses);

        Instances found = kept.instances();
        recorded.compare("dets", rows(found), PIXELS);
        recorded.compare("labels", NumpyArray.of(found.labels()), Tolerance.EXACT);
        recorded.compare("keep", NumpyArray.of(kept.keep()), Tolerance.EXACT);
    }

    /** Returns the scores without the last column, which is background. */
    private static float[] withoutBackground(NumpyArray scores) {
        int classes = scores.size(1) - 1;
        float[] all = scores.floats();
        float[] foreground = new float[scores.size(0) * classes];
        for (int i = 0; i < foreground.length; i++) {
            foreground[i] = all[i / classes * (classes + 1) + i % classes];
        }
        return foreground;
    }

    /** Returns objects as mmdetection does: x1, y1, x2, y2, score. */
    static NumpyArray rows(Instances objects) {
        float[] boxes = objects.boxes().toArray();
        double[] rows = new double[5 * objects.size()];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = i % 5 == 4 ? objects.score(i / 5) : boxes[i / 5 * 4 + i % 5];
        }
        return NumpyArray.of(rows).reshape(objects.size(), 5);
    }
}
