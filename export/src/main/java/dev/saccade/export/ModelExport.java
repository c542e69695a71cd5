package dev.saccade.export;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.TorchScriptFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.ops.Kernels;
import dev.saccade.core.ops.OperatorLibrary;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.Tracer;
import dev.saccade.core.structures.Size;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.onnx.OnnxWriter;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.Model;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * A model as other programs run it: what it computes, recorded and written with the operators of
 * libtorch or ONNX alone.
 *
 * <p>It is given {@code images}, {@code [N, 3, H, W]} float32, normalized. A segmenter gives {@code
 * logits}, {@code [N, K, h, w]}. A detector is given {@code sizes} too, {@code [N, 2]} float32:
 * width and height of each image without its padding; it gives {@code boxes}, {@code [N, M, 4]}
 * corners in pixels of the input, {@code labels}, {@code [N, M]} int64, {@code scores}, {@code [N,
 * M]} in descending order, {@code counts}, {@code [N]} int64: how many objects there are of each
 * image, and, if it draws masks, {@code masks}, {@code [N, M, S, S]}: their probabilities inside of
 * the boxes. Selection is in it, as the model has it.
 *
 * <p>For images of every size it is recorded at several sizes, see {@link Generalization}. Batch
 * normalizations become part of the convolutions before them, and what depends on weights alone is
 * computed beforehand.
 */
public final class ModelExport {

    /** Examples that sizes are concluded from. */
    private static final int EXAMPLES = 9;

    private static final int LEAST_EDGE = 65;
    private static final int MOST_EDGE = 560;
    private static final int MOST_IMAGES = 3;

    private static final ImmutableList<String> OF_DETECTORS =
            ImmutableList.of("boxes", "labels", "scores", "counts", "masks");

    private final Graph graph;
    private final ImmutableList<String> inputs;
    private final ImmutableList<String> outputs;

    private ModelExport(Graph graph, boolean detects) {
        this.graph = graph;
        this.inputs = detects ? ImmutableList.of("images", "sizes") : ImmutableList.of("images");
        this.outputs =
                detects
                        ? OF_DETECTORS.subList(0, graph.outputs().size())
                        : ImmutableList.of("logits");
    }

    /**
     * Records a model for images of every size.
     *
     * @param model in inference mode, on a CPU
     * @throws SaccadeException of kind user, if there is no library of fused operators, which
     *     records, or if what the model computes cannot be told for every size
     */
    public static ModelExport of(Model<?> model) {
        SplittableRandom random = SeededRandom.of(0, 0, 0);
        List<Shape> shapes = new ArrayList<>();
        for (int k = 0; k < EXAMPLES; k++) {
            // As large as one image is what several make.
            int images = 1 + k % MOST_IMAGES;
            int most = MOST_EDGE / images;
            shapes.add(
                    new Shape(
                            images,
                            3,
                            random.nextInt(LEAST_EDGE, most),
                            random.nextInt(LEAST_EDGE, most)));
        }
        return of(model, shapes);
    }

    /**
     * Records a model for images of one size, in batches of every size.
     *
     * @param model in inference mode, on a CPU
     * @param size that of the images with their padding
     * @throws SaccadeException of kind user, as {@link #of(Model)}
     */
    public static ModelExport of(Model<?> model, Size size) {
        List<Shape> shapes = new ArrayList<>();
        for (int n = 1; n <= MOST_IMAGES; n++) {
            shapes.add(new Shape(n, 3, size.height(), size.width()));
        }
        return of(model, shapes);
    }

    private static ModelExport of(Model<?> model, List<Shape> shapes) {
        OperatorLibrary.Status recorder = Kernels.status();
        if (!recorder.loaded()) {
            throw SaccadeException.user(
                    "a model is recorded by the library of fused operators, but %s",
                    recorder.reason());
        }
        Map<String, Tensor> parameters = new LinkedHashMap<>();
        List<NDArray> arrays = new ArrayList<>();
        model.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            parameters.put(name, Tensor.of(parameter.getArray()));
                            arrays.add(parameter.getArray());
                        });
        List<Graph> graphs = new ArrayList<>();
        for (Shape shape : shapes) {
            try (NDManager manager = arrays.get(0).getManager().newSubManager()) {
                Tracer.Recording recording = record(model, arrays, shape, manager);
                graphs.add(Recordings.graph(recording, parameters));
                recording.constants().close();
            }
        }
        Graph graph = Simplification.of(Generalization.of(graphs));
        return new ModelExport(BatchNormFolding.of(graph), model instanceof DetectionModel);
    }

    private static Tracer.Recording record(
            Model<?> model, List<NDArray> parameters, Shape shape, NDManager manager) {
        NDArray images = manager.randomUniform(-1, 1, shape);
        List<NDArray> inputs = new ArrayList<>(List.of(images));
        NDArray sizes = sizes(shape, manager);
        if (model instanceof DetectionModel) {
            inputs.add(sizes);
        }
        inputs.addAll(parameters);
        return OperatorLibrary.portably(
                () ->
                        Tracer.record(
                                inputs,
                                () ->
                                        model.match(
                                                detector -> detector.detect(images, sizes),
                                                other -> other.call(new NDList(images)))));
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

    /** Returns the names of what is given, in order. */
    public List<String> inputs() {
        return inputs;
    }

    /** Returns the names of what is got, in order. */
    public List<String> outputs() {
        return outputs;
    }

    /**
     * Writes a module of TorchScript, whose {@code forward} takes the inputs and returns a tuple of
     * the outputs, in order.
     *
     * @throws SaccadeException of kind I/O, if it cannot be written; of kind user, if libtorch has
     *     no operator for what the model computes
     */
    public void writeTorchScript(Path file) {
        Map<Value, String> names = new HashMap<>();
        for (int i = 0; i < inputs.size(); i++) {
            names.put(graph.inputs().get(i), inputs.get(i));
        }
        Map<String, Tensor> attributes = new LinkedHashMap<>();
        graph.weightNames()
                .forEach(
                        (value, name) -> {
                            attributes.put(name, graph.weights().get(value).tensor());
                            names.put(value, "self." + name);
                        });
        String parameters =
                inputs.stream().map(name -> name + ": Tensor").collect(Collectors.joining(", "));
        String results = outputs.stream().map(name -> "Tensor").collect(Collectors.joining(", "));
        StringBuilder code = new StringBuilder();
        code.append(
                "def forward(self: __torch__.M, %s) -> Tuple[%s]:%n"
                        .formatted(parameters, results));
        code.append(new TorchScriptCode(graph, names).body("(", ",)").indent(2));
        Detecting.functions(graph).forEach(code::append);
        TorchScriptFile.write(file, code.toString(), attributes);
    }

    /**
     * Writes a model of ONNX, of operators of version 17.
     *
     * @throws SaccadeException of kind I/O, if it cannot be written; of kind user, if ONNX has no
     *     operator for what the model computes
     */
    public void writeOnnx(Path file) {
        byte[] bytes = OnnxWriter.write(graph, inputs, outputs).toByteArray();
        AtomicFile.write(
                file,
                channel -> {
                    ByteBuffer content = ByteBuffer.wrap(bytes);
                    while (content.hasRemaining()) {
                        channel.write(content);
                    }
                });
    }
}
