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

/**
 * How long one photograph takes from its file to what is seen in it, alone and one after another;
 * medians in milliseconds.
 *
 * @param decode to read and decode the file
 * @param prepare to resize and normalize it, in all views
 * @param compute to run the network, and to make objects or labels of what it gives
 */
public record Latency(double decode, double prepare, double compute) {

    private static final int PHOTOGRAPHS = 20;

    /** Measures a model that has just been used on some photographs of a data set. */
    public static Latency of(TrainedModel<?> model, Dataset dataset) {
        int count = Math.min(PHOTOGRAPHS, dataset.size());
        InferenceReader reader = new InferenceReader(model.pipelines());
        List<Double> decoded = new ArrayList<>();
        List<Double> prepared = new ArrayList<>();
        List<Double> computed = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int index = (int) ((long) i * dataset.size() / count);
            long start = System.nanoTime();
            ImageReader.read(dataset.image(index).file()).release();
            long read = System.nanoTime();
            try (InferenceInput input = reader.read(dataset, index)) {
                long ready = System.nanoTime();
                model.predict(input);
                computed.add((System.nanoTime() - ready) / 1e6);
                decoded.add((read - start) / 1e6);
                // The reader decodes, too.
                prepared.add(Math.max(0, (ready - read) - (read - start)) / 1e6);
            }
        }
        return new Latency(median(decoded), median(prepared), median(computed));
    }

    private static double median(List<Double> values) {
        return values.isEmpty() ? 0 : Quantiles.median().compute(ImmutableList.copyOf(values));
    }

    /** Returns the milliseconds of all together. */
    double all() {
        return decode + prepare + compute;
    }
}
