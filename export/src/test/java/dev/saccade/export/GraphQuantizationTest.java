package dev.saccade.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.checkpoint.Tensor;
import dev.saccade.export.Graph.Argument;
import dev.saccade.export.Graph.Argument.Items;
import dev.saccade.export.Graph.Argument.Literal;
import dev.saccade.export.Graph.Argument.TensorRef;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.Graph.Weight;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

class GraphQuantizationTest {

    private static final int CHANNELS = 16;
    private static final ActivationRange RANGE = ActivationRange.of(-4, 4);
    private static final ActivationRange POSITIVE = ActivationRange.of(0, 4);

    private final NDManager manager = NDManager.newBaseManager("PyTorch");
    private final Random random = new Random(1);
    private final Map<Value, Weight> weights = new LinkedHashMap<>();
    private final List<Node> nodes = new ArrayList<>();
    private final Value input = new Value(0, "Float", ImmutableList.of(1L, 16L, 12L, 12L));
    private final Value result;
    private int next = 1;

    @TempDir private Path folder;

    /** Builds a residual block, and a linear layer on its transposed output. */
    GraphQuantizationTest() {
        Value stem = add("aten::relu", input, convolution("stem", input));
        Value branch = convolution("branch", stem);
        Value sum = add("aten::add.Tensor", input, branch, stem, 1L);
        Value block = add("aten::relu", input, sum);
        Value last = convolution("last", block);
        Value rows = new Value(next++, "Float", ImmutableList.of(1L, 12L, 12L, 16L));
        addNode("aten::permute", rows, last, List.of(0L, 2L, 3L, 1L));
        result = add("aten::linear", rows, rows, weight("linear", CHANNELS), bias("linear"));
    }

    @AfterEach
    void close() {
        manager.close();
    }

    private Value convolution(String name, Value x) {
        List<Long> one = List.of(1L, 1L);
        return add(
                "aten::conv2d",
                input,
                x,
                weight(name, CHANNELS, 3, 3),
                bias(name),
                one,
                one,
                one,
                1L);
    }

    private Value weight(String name, long... rest) {
        long[] shape = new long[rest.length + 1];
        shape[0] = CHANNELS;
        System.arraycopy(rest, 0, shape, 1, rest.length);
        return constant(name + ".weight", new Shape(shape));
    }

    private Value bias(String name) {
        return constant(name + ".bias", new Shape(CHANNELS));
    }

    private Value constant(String name, Shape shape) {
        float[] values = new float[(int) shape.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian() / CHANNELS;
        }
        Value value = Value.of(next++, "Float", shape);
        weights.put(value, new Weight(name, Tensor.of(shape, values)));
        return value;
    }

    private Value add(String operator, Value like, Object... arguments) {
        Value value = new Value(next++, like.type(), like.sizes());
        addNode(operator, value, arguments);
        return value;
    }

    private void addNode(String operator, Value made, Object... arguments) {
        List<Argument> given =
                Arrays.stream(arguments).map(GraphQuantizationTest::argument).toList();
        nodes.add(
                new Node(
                        operator,
                        ImmutableList.copyOf(given),
                        ImmutableMap.of(),
                        ImmutableList.of(made)));
    }

    private static Argument argument(Object given) {
        if (given instanceof Value value) {
            return new TensorRef(value);
        }
        return given instanceof List<?> list
                ? new Items(
                        list.stream()
                                .map(GraphQuantizationTest::argument)
                                .collect(ImmutableList.toImmutableList()))
                : new Literal(given);
    }

    private Graph graph() {
        return new Graph(
                ImmutableList.of(input),
                ImmutableMap.copyOf(weights),
                ImmutableList.copyOf(nodes),
                ImmutableList.of(result));
    }

    private Graph quantized(String... names) {
        List<QuantizedLayer> layers = QuantizedLayer.of(graph(), Set.of(names));
        return GraphQuantization.of(graph(), layers, ranges(layers));
    }

    private Map<Value, ActivationRange> ranges(List<QuantizedLayer> layers) {
        Map<Value, ActivationRange> ranges = new HashMap<>();
        layers.stream()
                .flatMap(QuantizedLayer::activations)
                .forEach(value -> ranges.put(value, RANGE));
        nodes.stream()
                .filter(node -> node.name().equals("aten::relu"))
                .forEach(node -> ranges.put(node.result(), POSITIVE));
        return ranges;
    }

    private Path write(Graph graph, int opset) {
        Path file = folder.resolve("model.onnx");
        List<String> outputs =
                IntStream.range(0, graph.outputs().size()).mapToObj(i -> "y" + i).toList();
        ExportFormat.ONNX.write(graph, List.of("x"), outputs, opset, Map.of(), file);
        return file;
    }

    private static ModelProto read(Path file) throws IOException {
        try (InputStream stream = Files.newInputStream(file)) {
            return ModelProto.parseFrom(stream);
        }
    }

    private NDList run(Graph graph, NDArray x) {
        try (ExportedProgram program = ExportFormat.ONNX.open(write(graph, 17))) {
            return program.run(new NDList(x));
        }
    }

    private NDArray image() {
        float[] values = new float[CHANNELS * 144];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return manager.create(values, new Shape(1, CHANNELS, 12, 12));
    }

    private static long count(ModelProto model, String operator) {
        return model.getGraph().getNodeList().stream()
                .map(NodeProto::getOpType)
                .filter(operator::equals)
                .count();
    }

    @Test
    void selectedLayersHaveIntegerWeights() throws IOException {
        ModelProto model = read(write(quantized("branch", "linear"), 17));
        List<String> integers =
                model.getGraph().getInitializerList().stream()
                        .filter(t -> t.getDataType() == TensorProto.DataType.INT8.getNumber())
                        .map(TensorProto::getName)
                        .filter(name -> !name.endsWith("zero_point"))
                        .toList();
        assertEquals(List.of("branch_weight", "linear_weight"), integers);
        // Input and output of the convolution, and the input of the linear layer.
        assertEquals(3, count(model, "QuantizeLinear"));
        assertEquals(5, count(model, "DequantizeLinear"));
    }

    @Test
    void outputIsNearTheOriginal() {
        NDArray x = image();
        NDArray expected = run(graph(), x).get(0);
        NDArray got = run(quantized("stem", "branch", "last", "linear"), x).get(0);
        double error = got.sub(expected).square().mean().getFloat();
        double square = expected.square().mean().getFloat();
        assertTrue(error > 0 && Math.sqrt(error / square) < 0.05, error + " of " + square);
    }

    @ParameterizedTest
    @ValueSource(ints = {17, 21})
    void onnxRuntimeComputesWithIntegers(int opset) throws IOException, OrtException {
        Path file = write(quantized("stem", "branch", "last", "linear"), opset);
        Path optimized = folder.resolve("optimized.onnx");
        try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
            options.setOptimizedModelFilePath(optimized.toString());
            OrtEnvironment.getEnvironment().createSession(file.toString(), options).close();
        }
        ModelProto model = read(optimized);
        assertEquals(3, count(model, "QLinearConv"));
        assertEquals(1, count(model, "QLinearAdd"));
        assertEquals(1, count(model, "MatMulIntegerToFloat"));
        assertEquals(0, count(model, "Conv") + count(model, "Relu"));
    }

    @Test
    void errorsAreOfOneLayerEach() {
        List<QuantizedLayer> layers = QuantizedLayer.of(graph(), Set.of("stem", "last", "linear"));
        Map<Value, ActivationRange> ranges = ranges(layers);
        // Clips nearly all values.
        ranges.put(layers.get(1).output(), ActivationRange.of(-0.01, 0.01));
        Graph errors = GraphQuantization.errors(graph(), layers, ranges);
        NDList sums = run(errors, image());
        assertEquals(6, sums.size());
        float[] relative = new float[3];
        for (int i = 0; i < 3; i++) {
            relative[i] = sums.get(2 * i + 1).getFloat() / sums.get(2 * i).getFloat();
        }
        assertTrue(relative[0] > 0 && relative[0] < 0.01, Arrays.toString(relative));
        assertTrue(relative[1] > 0.5, Arrays.toString(relative));
        assertTrue(relative[2] > 0 && relative[2] < 0.01, Arrays.toString(relative));
    }
}
