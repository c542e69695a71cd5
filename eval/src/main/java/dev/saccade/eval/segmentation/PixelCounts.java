package dev.saccade.eval.segmentation;

import static com.google.common.base.Preconditions.checkState;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.Evaluation;
import dev.saccade.eval.Evaluator;
import dev.saccade.eval.bootstrap.ResampledMetric;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;

/**
 * Pixels of each class in an image, for bootstrap intervals of mIoU.
 *
 * @param both pixels of the class that are predicted correctly
 * @param truth pixels of the class
 * @param predicted labeled pixels that are predicted as the class
 */
public record PixelCounts(long imageId, List<Long> both, List<Long> truth, List<Long> predicted) {

    public PixelCounts {
        both = List.copyOf(both);
        truth = List.copyOf(truth);
        predicted = List.copyOf(predicted);
    }

    private static PixelCounts of(long imageId, PixelConfusionMatrix pixels) {
        return new PixelCounts(
                imageId,
                list(pixels.classes(), label -> pixels.count(label, label)),
                list(pixels.classes(), pixels::truth),
                list(pixels.classes(), pixels::predicted));
    }

    private static List<Long> list(int classes, IntToLongFunction count) {
        return IntStream.range(0, classes).mapToLong(count).boxed().toList();
    }

    /** Counts the pixels of each image; has no metrics. */
    public static final class Counter implements Evaluator<LabelMap> {

        private final Dataset dataset;
        private final PixelCounts[] counts;

        public Counter(Dataset dataset) {
            this.dataset = dataset;
            this.counts = new PixelCounts[dataset.size()];
        }

        @Override
        public Set<String> metrics() {
            return Set.of();
        }

        @Override
        public void reset() {
            Arrays.fill(counts, null);
        }

        @Override
        public void process(int index, LabelMap predicted) {
            PixelConfusionMatrix pixels = new PixelConfusionMatrix(dataset.classes().size());
            pixels.add(dataset.labels(index), predicted);
            counts[index] = of(dataset.image(index).id(), pixels);
        }

        @Override
        public Evaluation evaluate() {
            return Map::of;
        }

        /** Returns the counts of each image, by image index. */
        public List<PixelCounts> counts() {
            checkState(!Arrays.asList(counts).contains(null), "an image has no prediction");
            return List.of(counts);
        }
    }

    /** Returns the mIoU of resampled images. */
    public static ResampledMetric meanIou(List<PixelCounts> images) {
        List<PixelCounts> sorted =
                images.stream().sorted(Comparator.comparingLong(PixelCounts::imageId)).toList();
        return new MeanIou(sorted);
    }

    private record MeanIou(List<PixelCounts> counts) implements ResampledMetric {

        @Override
        public int images() {
            return counts.size();
        }

        @Override
        public double value(int[] times) {
            int classes = counts.get(0).both.size();
            return IntStream.range(0, classes)
                    .mapToDouble(label -> iou(label, times))
                    .filter(iou -> !Double.isNaN(iou))
                    .average()
                    .orElse(Double.NaN);
        }

        private double iou(int label, int[] times) {
            long both = 0;
            long either = 0;
            for (int i = 0; i < times.length; i++) {
                PixelCounts image = counts.get(i);
                long right = image.both.get(label);
                both += times[i] * right;
                either += times[i] * (image.truth.get(label) + image.predicted.get(label) - right);
            }
            return either == 0 ? Double.NaN : (double) both / either;
        }
    }
}
