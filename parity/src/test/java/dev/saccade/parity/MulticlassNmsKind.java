package dev.saccade.parity;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.structures.Instances;
import dev.saccade.heads.box.HardNms;
import dev.saccade.heads.box.MulticlassNms;
import dev.saccade.heads.box.ScoredBoxes;

import java.util.Arrays;
import java.util.stream.IntStream;

/** Multiclass NMS with boxes per class or shared by all classes. */
final class MulticlassNmsKind implements Kind {

    private static final Tolerance PIXELS = Tolerance.absolute(1e-3);

    @Override
    public void run(Case recorded) {
        Settings config = recorded.config();
        int numClasses = config.integer("num_classes");
        HardNms nms =
                new HardNms(
                        config.number("score_thr"),
                        config.number("nms_iou"),
                        config.integer("max_per_img"));
        float[] boxes = recorded.array("bboxes").floats();
        float[] scores = withoutBackground(recorded.array("scores"));
        NDManager manager = recorded.manager();
        ScoredBoxes scored =
                new ScoredBoxes(
                        manager.create(boxes, new Shape(1, boxes.length / 4, 4)),
                        manager.create(
                                scores, new Shape(1, scores.length / numClasses, numClasses)));
        MulticlassNms.Kept kept = nms.apply(scored);

        Instances found = kept.detections().toInstances().get(0);
        recorded.compare("dets", rows(found), PIXELS);
        recorded.compare("labels", NumpyArray.of(found.labels()), Tolerance.EXACT);
        int[] among = amongCandidates(kept.keep().toLongArray(), scores, nms.scoreThr());
        recorded.compare("keep", NumpyArray.of(among), Tolerance.EXACT);
    }

    /** Returns indices as the original counts them: over the pairs above the threshold. */
    private static int[] amongCandidates(long[] keep, float[] scores, double threshold) {
        return Arrays.stream(keep)
                .mapToInt(
                        position ->
                                (int)
                                        IntStream.range(0, (int) position)
                                                .filter(i -> scores[i] > (float) threshold)
                                                .count())
                .toArray();
    }

    /** Returns the scores without the last column, the background. */
    static float[] withoutBackground(NumpyArray scores) {
        int classes = scores.size(1) - 1;
        float[] all = scores.floats();
        float[] foreground = new float[scores.size(0) * classes];
        for (int i = 0; i < foreground.length; i++) {
            foreground[i] = all[i / classes * (classes + 1) + i % classes];
        }
        return foreground;
    }

    /** Returns mmdetection's rows: x1, y1, x2, y2, score. */
    static NumpyArray rows(Instances objects) {
        float[] boxes = objects.boxes().toArray();
        double[] rows = new double[5 * objects.size()];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = i % 5 == 4 ? objects.score(i / 5) : boxes[i / 5 * 4 + i % 5];
        }
        return NumpyArray.of(rows).reshape(objects.size(), 5);
    }
}
