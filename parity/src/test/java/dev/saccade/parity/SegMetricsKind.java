package dev.saccade.parity;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.eval.segmentation.BoundaryIou;
import dev.saccade.eval.segmentation.PixelConfusionMatrix;
import dev.saccade.eval.segmentation.SegmentationClassMetrics;
import dev.saccade.eval.segmentation.SegmentationMetrics;

import java.util.Collections;
import java.util.function.ToDoubleFunction;

/** Segmentation metrics: accuracy, IoU and Dice of each class, and the means. */
final class SegMetricsKind implements Kind {

    private static final Tolerance METRIC = Tolerance.absolute(1e-9);

    @Override
    public void run(Case recorded) {
        Settings config = recorded.config();
        int classes = config.integer("num_classes");
        int ignored = config.integer("ignore_index");
        boolean reduced = config.flag("reduce_zero_label");
        PixelConfusionMatrix pixels = new PixelConfusionMatrix(classes);
        for (int i = 0; recorded.has("gt" + i); i++) {
            pixels.add(
                    map(recorded.array("gt" + i), ignored, reduced),
                    map(recorded.array("pred" + i), ignored, false));
        }
        SegmentationMetrics metrics =
                SegmentationMetrics.compute(
                        Collections.nCopies(classes, "class"), pixels, new BoundaryIou(classes));
        recorded.compare("acc", perClass(metrics, SegmentationClassMetrics::accuracy), METRIC);
        recorded.compare("iou", perClass(metrics, SegmentationClassMetrics::iou), METRIC);
        recorded.compare("dice", perClass(metrics, SegmentationClassMetrics::dice), METRIC);
        for (String mean : new String[] {"aAcc", "mIoU", "mAcc"}) {
            recorded.compare(mean, NumpyArray.of(metrics.values().get(mean)), METRIC);
        }
    }

    private static LabelMap map(NumpyArray stored, int ignored, boolean reduced) {
        int[] values = stored.ints();
        short[] labels = new short[values.length];
        for (int i = 0; i < labels.length; i++) {
            boolean counts = values[i] != ignored && !(reduced && values[i] == 0);
            labels[i] = (short) (counts ? values[i] - (reduced ? 1 : 0) : LabelMap.IGNORE);
        }
        return LabelMap.of(new Size(stored.size(0), stored.size(1)), labels);
    }

    private static NumpyArray perClass(
            SegmentationMetrics metrics, ToDoubleFunction<SegmentationClassMetrics> measure) {
        return NumpyArray.of(
                metrics.perClass().stream()
                        .mapToDouble(measure)
                        .map(value -> value < 0 ? Double.NaN : value)
                        .toArray());
    }
}
