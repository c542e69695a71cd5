package dev.saccade.report.runs;

import com.google.common.base.Ascii;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Iterables;

import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.core.nn.Precision;
import dev.saccade.eval.MetricTable;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Result of a {@link Quantizer}.
 *
 * @param trainingImages number of training images on which layers were selected
 * @param validationImages number of validation images on which the models were evaluated
 * @param original precision of the original model, whose metrics limit the drop
 * @param precision precision of all layers that are not quantized
 * @param variants the original model by precision, and then the quantized model
 * @param notes problems with the images, if any
 * @param floatLayers quantization errors of layers that stay in float, relative to their outputs;
 *     NaN if a layer did not run on the training images
 */
public record QuantizedModel(
        Path file,
        int trainingImages,
        int validationImages,
        Precision original,
        Precision precision,
        Map<String, Variant> variants,
        List<String> notes,
        List<String> quantizedLayers,
        Map<String, Double> floatLayers) {

    static final String QUANTIZED = "quantized";

    private static final String UNKNOWN = "n/a";

    /**
     * The model in one precision.
     *
     * @param metrics metrics on the validation set; empty if not evaluated
     * @param latency median prediction time of an image in ms
     * @param memory peak memory of weights and maps while predicting an image, in bytes
     */
    public record Variant(Map<String, Double> metrics, double latency, long memory) {

        public Variant {
            metrics = ImmutableMap.copyOf(metrics);
        }

        private double mebibytes() {
            return memory / (double) (1 << 20);
        }

        private Map<String, Object> json() {
            return ImmutableMap.of(
                    "metrics",
                    metrics,
                    "ms_per_image",
                    latency,
                    "memory_mib",
                    Math.round(mebibytes()));
        }
    }

    public QuantizedModel {
        variants = ImmutableMap.copyOf(variants);
        notes = ImmutableList.copyOf(notes);
        quantizedLayers = ImmutableList.copyOf(quantizedLayers);
        floatLayers = ImmutableMap.copyOf(floatLayers);
    }

    /** Returns the quantized variant. */
    public Variant quantized() {
        return variants.get(QUANTIZED);
    }

    /** Returns the number of layers and images. */
    public String summary() {
        int layers = quantizedLayers.size() + floatLayers.size();
        return Text.format(
                "%d of %s quantized, selected on %s; metrics on %s",
                quantizedLayers.size(),
                Count.of(layers, "layer"),
                Count.of(trainingImages, "training image"),
                Count.of(validationImages, "validation image"));
    }

    /** Returns metrics, latency and memory of each variant, and the layers that stay in float. */
    public List<MetricTable> tables() {
        List<List<String>> rows = new ArrayList<>();
        for (String metric : quantized().metrics().keySet()) {
            rows.add(row(metric, variant -> text(variant.metrics().get(metric))));
        }
        rows.add(row("ms per image", variant -> Text.format("%.1f", variant.latency())));
        rows.add(row("memory in MiB", variant -> Text.format("%.0f", variant.mebibytes())));
        MetricTable metrics =
                new MetricTable(
                        ImmutableList.copyOf(Iterables.concat(List.of(""), variants.keySet())),
                        rows);
        if (floatLayers.isEmpty()) {
            return List.of(metrics);
        }
        MetricTable layers =
                new MetricTable(
                        List.of("layer in " + name(precision), "error if quantized"),
                        floatLayers.entrySet().stream()
                                .map(entry -> List.of(entry.getKey(), text(entry.getValue())))
                                .toList());
        return List.of(metrics, layers);
    }

    private List<String> row(String name, Function<Variant, String> value) {
        return Stream.concat(Stream.of(name), variants.values().stream().map(value)).toList();
    }

    static String name(Precision precision) {
        return Ascii.toLowerCase(precision.name());
    }

    private static String text(Double value) {
        return value == null || value.isNaN() ? UNKNOWN : Text.format("%.4f", value);
    }

    /** Returns the result for JSON. */
    public Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("file", file.toString());
        json.put("training_images", trainingImages);
        json.put("validation_images", validationImages);
        json.put("original_precision", name(original));
        json.put("precision", name(precision));
        Map<String, Object> models = new LinkedHashMap<>();
        variants.forEach((name, variant) -> models.put(name, variant.json()));
        json.put("models", models);
        json.put("quantized_layers", quantizedLayers);
        json.put(
                "float_layers",
                floatLayers.entrySet().stream()
                        .map(entry -> Map.of("layer", entry.getKey(), "error", entry.getValue()))
                        .toList());
        return json;
    }
}
