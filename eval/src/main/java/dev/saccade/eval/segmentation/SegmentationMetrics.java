package dev.saccade.eval.segmentation;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Segmentation metrics as in mmsegmentation: pixels are summed over all maps first; classes without
 * pixels do not count in means.
 *
 * @param pixelAccuracy correct pixels over labeled pixels ({@code aAcc}); -1 without labeled pixels
 */
public record SegmentationMetrics(List<SegmentationClassMetrics> perClass, double pixelAccuracy) {

    public SegmentationMetrics {
        perClass = ImmutableList.copyOf(perClass);
    }

    /** Computes the metrics from pixel counts. */
    public static SegmentationMetrics compute(
            List<String> classes, PixelConfusionMatrix pixels, BoundaryIou boundaries) {
        checkArgument(
                classes.size() == pixels.classes(),
                "got %s names for %s classes",
                classes.size(),
                pixels.classes());
        long right = 0;
        long all = 0;
        ImmutableList.Builder<SegmentationClassMetrics> perClass = ImmutableList.builder();
        for (int label = 0; label < classes.size(); label++) {
            long both = pixels.count(label, label);
            long truth = pixels.truth(label);
            long predicted = pixels.predicted(label);
            perClass.add(
                    new SegmentationClassMetrics(
                            classes.get(label),
                            truth,
                            ratio(both, truth + predicted - both),
                            ratio(both, truth),
                            ratio(2 * both, truth + predicted),
                            boundaries.iou(label)));
            right += both;
            all += truth;
        }
        return new SegmentationMetrics(perClass.build(), ratio(right, all));
    }

    private static double ratio(long part, long whole) {
        return whole == 0 ? -1 : (double) part / whole;
    }

    /** Returns {@code mIoU}; -1 without labeled pixels, as all means. */
    public double meanIou() {
        return mean(SegmentationClassMetrics::iou);
    }

    public double meanAccuracy() {
        return mean(SegmentationClassMetrics::accuracy);
    }

    public double meanDice() {
        return mean(SegmentationClassMetrics::dice);
    }

    public double meanBoundaryIou() {
        return mean(SegmentationClassMetrics::boundaryIou);
    }

    /**
     * Returns the defined means: {@code mIoU}, {@code mAcc}, {@code aAcc}, {@code mDice}, {@code
     * boundary_mIoU}.
     */
    public Map<String, Double> values() {
        Map<String, Double> values = new LinkedHashMap<>();
        values.put("mIoU", meanIou());
        values.put("mAcc", meanAccuracy());
        values.put("aAcc", pixelAccuracy);
        values.put("mDice", meanDice());
        values.put("boundary_mIoU", meanBoundaryIou());
        values.values().removeIf(value -> value < 0);
        return ImmutableMap.copyOf(values);
    }

    private double mean(ToDoubleFunction<SegmentationClassMetrics> measure) {
        return perClass.stream()
                .mapToDouble(measure)
                .filter(value -> value >= 0)
                .average()
                .orElse(-1);
    }
}
