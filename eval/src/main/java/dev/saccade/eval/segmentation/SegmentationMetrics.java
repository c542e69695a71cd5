package dev.saccade.eval.segmentation;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * How label maps agree with the ground truth, as mmsegmentation measures it: pixels are added up
 * over all maps first, and classes without a pixel are left out of means.
 *
 * @param perClass each class, in the order of the labels
 * @param pixelAccuracy pixels rightly labeled over all that count ({@code aAcc}); -1 without any
 */
public record SegmentationMetrics(List<ClassOverlap> perClass, double pixelAccuracy) {

    /** Keeps a copy of the list. */
    public SegmentationMetrics {
        perClass = ImmutableList.copyOf(perClass);
    }

    /**
     * Returns the metrics of counted pixels.
     *
     * @param classes the names of the classes
     */
    public static SegmentationMetrics compute(
            List<String> classes, PixelConfusion pixels, BoundaryOverlap boundaries) {
        checkArgument(
                classes.size() == pixels.classes(),
                "%s names for %s classes",
                classes.size(),
                pixels.classes());
        long right = 0;
        long all = 0;
        ImmutableList.Builder<ClassOverlap> perClass = ImmutableList.builder();
        for (int label = 0; label < classes.size(); label++) {
            long both = pixels.count(label, label);
            long truth = pixels.truth(label);
            long predicted = pixels.predicted(label);
            perClass.add(
                    new ClassOverlap(
                            classes.get(label),
                            truth,
                            share(both, truth + predicted - both),
                            share(both, truth),
                            share(2 * both, truth + predicted),
                            boundaries.iou(label)));
            right += both;
            all += truth;
        }
        return new SegmentationMetrics(perClass.build(), share(right, all));
    }

    private static double share(long part, long whole) {
        return whole == 0 ? -1 : (double) part / whole;
    }

    /**
     * Returns the means by name: {@code mIoU}, {@code mAcc}, {@code aAcc}, {@code mDice} and {@code
     * boundary_mIoU}; those without a class to average are left out.
     */
    public Map<String, Double> values() {
        Map<String, Double> values = new LinkedHashMap<>();
        values.put("mIoU", mean(ClassOverlap::iou));
        values.put("mAcc", mean(ClassOverlap::accuracy));
        values.put("aAcc", pixelAccuracy);
        values.put("mDice", mean(ClassOverlap::dice));
        values.put("boundary_mIoU", mean(ClassOverlap::boundaryIou));
        values.values().removeIf(value -> value < 0);
        return ImmutableMap.copyOf(values);
    }

    private double mean(ToDoubleFunction<ClassOverlap> measure) {
        return perClass.stream()
                .mapToDouble(measure)
                .filter(value -> value >= 0)
                .average()
                .orElse(-1);
    }
}
