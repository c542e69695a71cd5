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
     * Prepares to record a model in inference mode.
     *
     * @throws SaccadeException of kind user, if the fused operators, which are needed for
     *     recording, are not available, or the model is on a GPU
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
                    "recording a model needs the library of fused operators, but %s",
                    recorder.reason());
        }
        for (Parameter parameter : model.namedParameters().values()) {
            Device device = parameter.getArray().getDevice();
            if (device.isGpu()) {
                throw SaccadeException.user(
                        "the model is on %s, but only models on a CPU can be exported;"
                                + " load it with Device.cpu()",
                        Devices.name(device));
            }
        }
    }

    /** Returns the graph; its outputs are the exported outputs, then the raw maps of a detector. */
    Graph record(Shape shape) {
        List<NDArray> arrays = new ArrayList<>();
        model.namedParameters().values().forEach(each -> arrays.add(each.getArray()));
        try (NDManager manager = arrays.get(0).getManager().newSubManager()) {
            NDArray images = manager.randomUniform(-1, 1, shape);
            float[] size = {shape.get(3), shape.get(2)};
            NDArray sizes = Tensors.of(manager, size, new Shape(1, 2)).repeat(0, shape.get(0));
            boolean detects = model instanceof DetectionModel;
            List<NDArray> inputs =
                    new ArrayList<>(detects ? List.of(images, sizes) : List.of(images));
            inputs.addAll(arrays);
            Supplier<Tracer.Recording> record =
                    () -> Tracer.record(inputs, () -> outputs(images, sizes));
            Tracer.Recording recording =
                    Autocast.call(
                            precision, Device.cpu(), () -> OperatorLibrary.callPortable(record));
            Graph graph = GraphParser.graph(recording, parameters);
            recording.constants().close();
            return graph;
        }
    }

    private NDList outputs(NDArray images, NDArray sizes) {
        boolean detects = model instanceof DetectionModel;
        NDArray normalized =
                normalization
                        .map(it -> detects ? it.padded(images, sizes) : it.normalized(images))
                        .orElse(images);
        ModelOutputs computed = ModelOutputs.of(model, normalized, sizes);
        NDList all = new NDList(computed.outputs());
        if (detects) {
            all.addAll(computed.maps());
        }
        return all;
    }
}
