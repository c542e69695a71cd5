package dev.saccade.eval.classification;

import dev.saccade.datasets.Dataset;
import dev.saccade.eval.bootstrap.ResampledMetric;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** Whether the best class of an image is correct, for bootstrap intervals of top-1 accuracy. */
public record ClassifiedImage(long imageId, boolean correct) {

    /** Returns the images of an evaluation of a data set, by image index. */
    public static List<ClassifiedImage> of(Dataset dataset, ClassificationEvaluation evaluation) {
        return IntStream.range(0, evaluation.predictions().size())
                .mapToObj(
                        i ->
                                new ClassifiedImage(
                                        dataset.image(i).id(),
                                        evaluation.predictions().get(i).best()
                                                == evaluation.truth().get(i)))
                .toList();
    }

    /** Returns the top-1 accuracy of resampled images. */
    public static ResampledMetric topAccuracy(List<ClassifiedImage> images) {
        return new TopAccuracy(
                images.stream()
                        .sorted(Comparator.comparingLong(ClassifiedImage::imageId))
                        .toList());
    }

    private record TopAccuracy(List<ClassifiedImage> sorted) implements ResampledMetric {

        @Override
        public int images() {
            return sorted.size();
        }

        @Override
        public double value(int[] counts) {
            long all = 0;
            long right = 0;
            for (int i = 0; i < counts.length; i++) {
                all += counts[i];
                right += sorted.get(i).correct ? counts[i] : 0;
            }
            return all == 0 ? Double.NaN : (double) right / all;
        }
    }
}
