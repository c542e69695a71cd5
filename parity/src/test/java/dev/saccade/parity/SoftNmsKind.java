package dev.saccade.parity;

import ai.djl.ndarray.types.Shape;

import dev.saccade.heads.box.MulticlassNms;
import dev.saccade.heads.box.ScoredBoxes;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Soft-NMS of boxes of one class, with one label per box, and with scores for all classes. */
final class SoftNmsKind implements Kind {

    private static final Tolerance CLOSE = Tolerance.absolute(1e-5);

    @Override
    public void run(Case recorded) {
        Settings config = recorded.config();
        List<Settings> single = objects(config, "single");
        for (int k = 0; k < single.size(); k++) {
            float[] scores = recorded.array(single.get(k).text("scores")).floats();
            compare(
                    recorded,
                    "single_%s" + k,
                    select(recorded, "bboxes", scores, all(single.get(k))),
                    1);
        }
        List<Settings> batched = objects(config, "batched");
        int numClasses = config.integer("num_classes");
        for (int k = 0; k < batched.size(); k++) {
            float[] scores = recorded.array("scores").floats();
            int[] labels = recorded.array("labels_in").ints();
            int classes = Math.max(numClasses, Arrays.stream(labels).max().orElse(0) + 1);
            float[] ofClasses = new float[scores.length * classes];
            for (int i = 0; i < scores.length; i++) {
                ofClasses[i * classes + labels[i]] = scores[i];
            }
            compare(
                    recorded,
                    "batched_%s" + k,
                    select(recorded, "bboxes", ofClasses, all(batched.get(k))),
                    classes);
        }
        List<Settings> multi = objects(config, "multi");
        for (int k = 0; k < multi.size(); k++) {
            float[] scores = MulticlassNmsKind.withoutBackground(recorded.array("multi_scores"));
            MulticlassNms.Kept kept =
                    select(recorded, "multi_bboxes", scores, NmsSettings.nms(multi.get(k)));
            compare(recorded, "multi_%s" + k, kept, 1);
            NumpyArray labels = NumpyArray.of(kept.detections().toInstances().get(0).labels());
            recorded.compare("multi_labels" + k, labels, Tolerance.EXACT);
        }
    }

    private static MulticlassNms all(Settings nms) {
        return NmsSettings.soft(nms, 0, NmsSettings.ALL);
    }

    private static List<Settings> objects(Settings config, String key) {
        return config.has(key) ? config.objects(key) : List.of();
    }

    private static MulticlassNms.Kept select(
            Case recorded, String boxes, float[] scores, MulticlassNms nms) {
        float[] corners = recorded.array(boxes).floats();
        int rows = recorded.array(boxes).size(0);
        return nms.apply(
                new ScoredBoxes(
                        recorded.manager().create(corners, new Shape(1, corners.length / 4, 4)),
                        recorded.manager()
                                .create(scores, new Shape(1, rows, scores.length / rows))));
    }

    /**
     * Compares boxes with scores, and indices.
     *
     * @param perPosition number of Saccade's indices per recorded index
     */
    private static void compare(
            Case recorded, String name, MulticlassNms.Kept kept, int perPosition) {
        NumpyArray dets = MulticlassNmsKind.rows(kept.detections().toInstances().get(0));
        recorded.compare(String.format(Locale.ROOT, name, "dets"), dets, CLOSE);
        int[] positions =
                Arrays.stream(kept.keep().toLongArray())
                        .mapToInt(position -> (int) position / perPosition)
                        .toArray();
        recorded.compare(
                String.format(Locale.ROOT, name, "keep"),
                NumpyArray.of(positions),
                Tolerance.EXACT);
    }
}
