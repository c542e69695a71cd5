package dev.saccade.report.runs;

import com.google.common.collect.ImmutableList;
import com.google.common.math.Quantiles;

import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.InferenceReader;
import dev.saccade.models.TrainedModel;

import java.util.ArrayList;
import java.util.List;

/** Median latency at batch size 1 in ms; {@code inference} includes postprocessing. */
public record Latency(double decode, double preprocess, double inference) {

    private static final int IMAGES = 20;

    /** Minimum for a comparison; fewer images are repeated. */
    private static final int MIN_COMPARED = 5;

    /** Returns the latency of a model, which must already be warmed up. */
    public static Latency of(TrainedModel<?> model, Dataset dataset) {
        int count = Math.min(IMAGES, dataset.size());
        InferenceReader reader = new InferenceReader(model.pipelines());
        List<Double> decoded = new ArrayList<>();
        List<Double> preprocessed = new ArrayList<>();
        List<Double> inferred = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int index = (int) ((long) i * dataset.size() / count);
            long start = System.nanoTime();
            ImageReader.read(dataset.image(index).file()).release();
            long read = System.nanoTime();
            try (InferenceInput input = reader.read(dataset, index)) {
                long ready = System.nanoTime();
                model.predict(input);
                inferred.add((System.nanoTime() - ready) / 1e6);
                decoded.add((read - start) / 1e6);
                // Subtract decoding, because the reader decodes the image again.
                preprocessed.add(Math.max(0, (ready - read) - (read - start)) / 1e6);
            }
        }
        return new Latency(median(decoded), median(preprocessed), median(inferred));
    }

    /**
     * Returns the median times of {@code inference} of two models in ms, which must already be
     * warmed up. Each image is predicted by both models in turn.
     */
    static List<Double> compare(TrainedModel<?> first, TrainedModel<?> second, Dataset dataset) {
        int count = Math.max(MIN_COMPARED, Math.min(IMAGES, dataset.size()));
        List<Double> ofFirst = new ArrayList<>();
        List<Double> ofSecond = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int index = (int) ((long) i * dataset.size() / count);
            try (InferenceInput input = first.reader().read(dataset, index)) {
                ofFirst.add(milliseconds(first, input));
                ofSecond.add(milliseconds(second, input));
            }
        }
        return List.of(median(ofFirst), median(ofSecond));
    }

    private static double milliseconds(TrainedModel<?> model, InferenceInput input) {
        long start = System.nanoTime();
        model.predict(input);
        return (System.nanoTime() - start) / 1e6;
    }

    private static double median(List<Double> values) {
        return values.isEmpty() ? 0 : Quantiles.median().compute(ImmutableList.copyOf(values));
    }

    double total() {
        return decode + preprocess + inference;
    }
}
