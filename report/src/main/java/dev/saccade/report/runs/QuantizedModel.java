package dev.saccade.report.runs;

import com.google.common.base.Ascii;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Text;
import dev.saccade.core.nn.Precision;
import dev.saccade.eval.MetricTable;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Result of a {@link Quantizer}.
 *
 * @param trainingImages number of training images on which layers were selected
 * @param precision precision of all layers that are not quantized
 * @param before metrics of the original model on the validation set
 * @param after metrics of the quantized model on the validation set
 * @param latencyBefore median prediction time of an image in ms
 * @param latencyAfter median prediction time of the same image in ms
 * @param floatLayers quantization errors of layers that stay in float, relative to their outputs;
 *     NaN if a layer did not run on the training images
 */
public record QuantizedModel(
        Path file,
        int trainingImages,
        Precision precision,
        Map<String, Double> before,
        Map<String, Double> after,
        double latencyBefore,
        double latencyAfter,
        List<String> quantizedLayers,
        Map<String, Double> floatLayers) {

    public QuantizedModel {
        before = ImmutableMap.copyOf(before);
        after = ImmutableMap.copyOf(after);
        quantizedLayers = ImmutableList.copyOf(quantizedLayers);
        floatLayers = ImmutableMap.copyOf(floatLayers);
    }

    /** Returns the metrics and latencies, and the layers that stay in float. */
    public List<MetricTable> tables() {
        List<List<String>> rows = new ArrayList<>();
        before.forEach(
                (name, value) ->
                        rows.add(
                                List.of(
                                        name,
                                        Text.format("%.4f", value),
                                        Text.format("%.4f", after.get(name)))));
        rows.add(
                List.of(
                        "ms per image",
                        Text.format("%.1f", latencyBefore),
                        Text.format("%.1f", latencyAfter)));
        rows.add(List.of("quantized layers", "0", Text.format("%d", quantizedLayers.size())));
        MetricTable metrics = new MetricTable(List.of("", "before", "after"), rows);
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

    private static String name(Precision precision) {
        return Ascii.toLowerCase(precision.name());
    }

    private static String text(double error) {
        return Double.isNaN(error) ? "n/a" : Text.format("%.4f", error);
    }

    /** Returns the result for JSON. */
    public Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("file", file.toString());
        json.put("training_images", trainingImages);
        json.put("precision", name(precision));
        json.put("before", before);
        json.put("after", after);
        json.put("ms_before", latencyBefore);
        json.put("ms_after", latencyAfter);
        json.put("quantized_layers", quantizedLayers);
        json.put(
                "float_layers",
                floatLayers.entrySet().stream()
                        .map(entry -> Map.of("layer", entry.getKey(), "error", entry.getValue()))
                        .collect(Collectors.toList()));
        return json;
    }
}
