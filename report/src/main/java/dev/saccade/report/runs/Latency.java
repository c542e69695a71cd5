package dev.saccade.report.runs;

import com.google.common.collect.ImmutableList;
import com.google.common.math.Quantiles;

import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.image.ImageSource;
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
        InferenceReader reader = new InferenceReader(model.pipelines(), model.spec().pixels());
        List<Double> decoded = new ArrayList<>();
        List<Double> preprocessed = new ArrayList<>();
        List<Double> inferred = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int index = (int) ((long) i * dataset.size() / count);
            long start = System.nanoTime();
            ImageSource.of(dataset.image(index).file()).read(model.spec().pixels()).release();
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
     * Returns the median time of {@code inference} of each model in ms. The models must have the
     * same transforms. All models predict each image in turn, after a warm-up.
     */
    static List<Double> compare(List<? extends TrainedModel<?>> models, Dataset dataset) {
        int count = Math.max(MIN_COMPARED, Math.min(IMAGES, dataset.size()));
        List<List<Double>> times =
                models.stream().<List<Double>>map(m -> new ArrayList<>()).toList();
        for (int i = -1; i < count; i++) {
            int index = (int) ((long) Math.max(0, i) * dataset.size() / count);
            try (InferenceInput input = models.get(0).reader().read(dataset, index)) {
                for (int model = 0; model < models.size(); model++) {
                    double time = milliseconds(models.get(model), input);
                    if (i >= 0) {
                        times.get(model).add(time);
                    }
                }
            }
        }
        return times.stream().map(Latency::median).toList();
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
