package dev.saccade.export;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import com.google.common.collect.Lists;

import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.InferenceReader;
import dev.saccade.eval.LayerSelection;
import dev.saccade.export.Graph.Value;
import dev.saccade.models.TrainedModel;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ObjIntConsumer;

/**
 * Quantizes layers of a recorded model for ONNX. Ranges of activations and the {@linkplain
 * LayerSelection selection} of layers depend on training images only.
 *
 * @param export recorded float32 model
 * @param images training images
 * @param folder folder of temporary files
 */
record QuantizedExport(
        ModelExport export,
        TrainedModel<?> model,
        Dataset images,
        Path folder,
        int workers,
        ProgressBar.Factory bars) {

    /** Number of maps that are copied to Java in one run. */
    private static final int AT_ONCE = 40;

    /**
     * A quantized model.
     *
     * @param layers names of the quantized layers
     * @param candidates number of layers that could be quantized
     * @param metrics metrics of the float32 model on the training images
     */
    record Result(
            ModelExport export, List<String> layers, int candidates, Map<String, Double> metrics) {}

    /**
     * Quantizes the largest selection of layers without too large a drop.
     *
     * @param candidates names of layers
     */
    Result quantize(Set<String> candidates, LayerSelection selection) {
        Graph graph = export.graph().withOutputs(export.results());
        List<QuantizedLayer> layers = QuantizedLayer.of(graph, candidates);
        if (layers.isEmpty()) {
            throw SaccadeException.user(
                    "no quantized layer can be exported with 8 bits; export the original"
                            + " checkpoint");
        }
        Map<Value, ActivationRange> ranges = ranges(layers);
        Map<String, Double> errors = errors(graph, layers, ranges);
        ExportEvaluation evaluation =
                new ExportEvaluation(images, " on training images", workers, bars);
        Map<String, Double> before = LayerSelection.metrics(evaluation.original(model).metrics());
        List<String> selected =
                selection.select(
                        errors,
                        images.size(),
                        before,
                        names ->
                                LayerSelection.metrics(
                                        metrics(
                                                evaluation,
                                                quantized(graph, layers, names, ranges))));
        return new Result(
                quantized(graph, layers, selected, ranges), selected, errors.size(), before);
    }

    private ModelExport quantized(
            Graph graph,
            List<QuantizedLayer> layers,
            List<String> names,
            Map<Value, ActivationRange> ranges) {
        List<QuantizedLayer> some =
                layers.stream().filter(layer -> names.contains(layer.name())).toList();
        return new ModelExport(export.settings(), GraphQuantization.of(graph, some, ranges));
    }

    private Map<String, Double> metrics(ExportEvaluation evaluation, ModelExport quantized) {
        try (ExportedModel exported =
                new ExportedModel(
                        export.settings(),
                        quantized.open(ExportFormat.ONNX, quantized.results(), folder))) {
            return evaluation.exported(model, exported).metrics();
        }
    }

    private Map<Value, ActivationRange> ranges(List<QuantizedLayer> layers) {
        List<Value> activations =
                layers.stream().flatMap(QuantizedLayer::activations).distinct().toList();
        Map<Value, ActivationRange> ranges = new HashMap<>();
        for (List<Value> some : Lists.partition(activations, AT_ONCE)) {
            List<ActivationHistogram> histograms = new ArrayList<>();
            some.forEach(value -> histograms.add(new ActivationHistogram()));
            run(
                    "calibrate on training images",
                    export,
                    some,
                    (value, i) -> histograms.get(i).add(value.toFloatArray()));
            for (int i = 0; i < some.size(); i++) {
                ranges.put(some.get(i), histograms.get(i).range());
            }
        }
        return ranges;
    }

    /** Returns the relative error that each layer adds if only this layer is quantized. */
    private Map<String, Double> errors(
            Graph graph, List<QuantizedLayer> layers, Map<Value, ActivationRange> ranges) {
        Graph compared = GraphQuantization.errors(graph, layers, ranges);
        double[] sums = new double[2 * layers.size()];
        run(
                "compare layers on training images",
                new ModelExport(export.settings(), compared),
                compared.outputs(),
                (value, i) -> {
                    double square = value.getFloat();
                    // NaN is the mean of no regions.
                    sums[i] += Double.isNaN(square) ? 0 : square;
                });
        Map<String, double[]> byLayer = new LinkedHashMap<>();
        for (int i = 0; i < layers.size(); i++) {
            double[] sum = byLayer.computeIfAbsent(layers.get(i).name(), name -> new double[2]);
            sum[0] += sums[2 * i];
            sum[1] += sums[2 * i + 1];
        }
        Map<String, Double> errors = new LinkedHashMap<>();
        byLayer.forEach(
                (name, sum) -> errors.put(name, sum[0] == 0 ? 0 : Math.sqrt(sum[1] / sum[0])));
        return errors;
    }

    /** Computes values on all images. */
    private void run(
            String task, ModelExport computed, List<Value> values, ObjIntConsumer<NDArray> use) {
        InferenceReader reader =
                new InferenceReader(List.of(model.spec().transforms()), model.spec().pixels());
        try (ExportedModel program =
                        new ExportedModel(
                                export.settings(),
                                computed.open(ExportFormat.ONNX, values, folder));
                ProgressBar progress = bars.open(task, images.size(), " images")) {
            for (int i = 0; i < images.size(); i++) {
                try (InferenceInput input = reader.read(images, i)) {
                    ExportEvaluation.onCpu(
                            input,
                            batch -> {
                                NDList results = program.program().run(program.inputs(batch));
                                for (int k = 0; k < results.size(); k++) {
                                    use.accept(results.get(k), k);
                                }
                                return results.size();
                            });
                }
                progress.step();
            }
        }
    }
}
