package dev.saccade.export;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableMap;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.Devices;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.OperatorLibrary;
import dev.saccade.core.ops.script.Tracer;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.Model;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Records the operators of a model for an image shape. */
final class ModelRecorder {

    private final Model<?> model;
    private final Precision precision;
    private final Optional<InputNormalization> normalization;
    private final ImmutableMap<String, Tensor> parameters;

    /**
     * Prepares to record.
     *
     * @param model in inference mode, on a CPU
     * @param precision what it computes in
     * @param normalization that of its images, if it is part of what is recorded
     * @throws SaccadeException of kind user, if there is no library of fused operators, which
     *     records, or the model is on a GPU
     */
    ModelRecorder(Model<?> model, Precision precision, Optional<InputNormalization> normalization) {
        require(model);
        this.model = model;
        this.precision = precision;
        this.normalization = normalization;
        parameters = ImmutableMap.copyOf(Checkpoint.of(model, Map.of()).tensors());
    }

    private static void require(Model<?> model) {
        OperatorLibrary.Status recorder = Kernels.status();
        if (!recorder.loaded()) {
            throw SaccadeException.user(
                    "a model is recorded by the library of fused operators, but %s",
                    recorder.reason());
        }
        for (Parameter parameter : model.namedParameters().values()) {
            Device device = parameter.getArray().getDevice();
            if (device.isGpu()) {
                throw SaccadeException.user(
                        "the model is on %s; what is exported is recorded on a CPU, load it with"
                                + " Device.cpu()",
                        Devices.name(device));
            }
        }
    }

    /** Returns the graph, whose outputs are those that are delivered, and the maps behind them. */
    Graph record(Shape shape) {
        List<NDArray> arrays = new ArrayList<>();
        model.namedParameters().values().forEach(each -> arrays.add(each.getArray()));
        try (NDManager manager = arrays.get(0).getManager().newSubManager()) {
            NDArray images = manager.randomUniform(-1, 1, shape);
            NDArray sizes = sizes(shape, manager);
            List<NDArray> inputs = new ArrayList<>(List.of(images));
            if (model instanceof DetectionModel) {
                inputs.add(sizes);
            }
            inputs.addAll(arrays);
            Supplier<Tracer.Recording> record =
                    () -> Tracer.record(inputs, () -> outputs(images, sizes));
            Tracer.Recording recording =
                    Autocast.call(precision, Device.cpu(), () -> OperatorLibrary.portably(record));
            Graph graph = Recordings.graph(recording, parameters);
            recording.constants().close();
            return graph;
        }
    }

    private NDList outputs(NDArray images, NDArray sizes) {
        boolean detects = model instanceof DetectionModel;
        NDArray seen = images;
        if (normalization.isPresent()) {
            InputNormalization first = normalization.get();
            seen = detects ? first.padded(images, sizes) : first.normalized(images);
        }
        ModelOutputs outputs = ModelOutputs.of(model, seen, sizes);
        NDList all = new NDList(outputs.delivered());
        if (detects) {
            all.addAll(outputs.maps());
        }
        return all;
    }

    private static NDArray sizes(Shape shape, NDManager manager) {
        int images = Math.toIntExact(shape.get(0));
        float[] sizes = new float[2 * images];
        for (int n = 0; n < images; n++) {
            sizes[2 * n] = shape.get(3);
            sizes[2 * n + 1] = shape.get(2);
        }
        return Tensors.of(manager, sizes, new Shape(images, 2));
    }
}
