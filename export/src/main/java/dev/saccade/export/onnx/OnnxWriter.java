package dev.saccade.export.onnx;

import ai.djl.ndarray.types.Shape;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import com.google.common.collect.Range;

import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.Problems;
import dev.saccade.core.Version;
import dev.saccade.export.Graph;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Converts a graph of libtorch operators to ONNX. */
public final class OnnxWriter {

    /**
     * Supported opsets: 17 is the first with layer normalization, 21 the last that ONNX Runtime
     * implements completely.
     */
    public static final Range<Integer> OPSETS = Range.closed(17, 21);

    /** File version that all supported opsets allow. */
    private static final int IR_VERSION = 8;

    private static final ImmutableMap<String, Operator.ListConverter> CONVERTERS =
            ImmutableMap.<String, Operator.ListConverter>builder()
                    .putAll(lists(ElementwiseOperators.CONVERTERS))
                    .putAll(lists(LayerOperators.CONVERTERS))
                    .putAll(lists(ShapeOperators.CONVERTERS))
                    .putAll(ShapeOperators.LISTS)
                    .putAll(DetectionOperators.CONVERTERS)
                    .put("prim::ListUnpack", op -> op.tensors(0))
                    .buildOrThrow();

    private final GraphProto.Builder proto = GraphProto.newBuilder().setName("model");

    /**
     * ONNX names: one per tensor, one per element of a list of tensors. Weights are added on first
     * use.
     */
    private final Map<Value, List<String>> names = new HashMap<>();

    /**
     * Weights of linear layers. They are stored transposed, as quantizers support only constant
     * inputs of matrix products.
     */
    private final Set<Value> matrices;

    /** ONNX names of transposed matrices. */
    private final Map<Value, String> transposed = new HashMap<>();

    private final Graph source;
    private final OnnxGraph graph;
    private final Map<Value, String> weightNames;

    private OnnxWriter(Graph source, int opset) {
        this.source = source;
        graph = new OnnxGraph(proto, opset);
        weightNames = source.weightNames();
        matrices =
                source.nodes().stream()
                        .filter(node -> node.name().equals("aten::linear"))
                        .map(node -> node.value(1))
                        .filter(source.weights()::containsKey)
                        .collect(Collectors.toSet());
    }

    private static Map<String, Operator.ListConverter> lists(
            Map<String, Operator.Converter> converters) {
        return Maps.transformValues(converters, one -> op -> List.of(one.convert(op)));
    }

    /** Rejects a graph with unsupported operators, and lists them. */
    public static void require(Graph graph) {
        Problems problems = new Problems();
        graph.nodes().stream()
                .filter(node -> !CONVERTERS.containsKey(node.name()))
                .map(Node::operator)
                .sorted()
                .distinct()
                .forEach(operator -> problems.add("%s", operator));
        problems.throwIfAny("operators not supported in ONNX export; use TorchScript");
    }

    /**
     * Converts a graph. The opset must be one of {@link #OPSETS}.
     *
     * @param metadata written as {@code metadata_props}
     */
    public static ModelProto write(
            Graph graph,
            List<String> inputs,
            List<String> outputs,
            int opset,
            Map<String, String> metadata) {
        require(graph);
        ModelProto.Builder model = new OnnxWriter(graph, opset).model(inputs, outputs, opset);
        new TreeMap<>(metadata)
                .forEach(
                        (key, value) ->
                                model.addMetadataProps(
                                        StringStringEntryProto.newBuilder()
                                                .setKey(key)
                                                .setValue(value)));
        return model.build();
    }

    private ModelProto.Builder model(List<String> inputs, List<String> outputs, int opset) {
        for (int i = 0; i < inputs.size(); i++) {
            Value input = source.inputs().get(i);
            names.put(input, List.of(inputs.get(i)));
            proto.addInput(info(inputs.get(i), input));
        }
        for (Node node : source.nodes()) {
            List<String> results =
                    CONVERTERS.get(node.name()).convert(new Operator(this, graph, node));
            if (node.results().size() == 1) {
                names.put(node.result(), results);
            } else {
                for (int r = 0; r < results.size(); r++) {
                    names.put(node.results().get(r), List.of(results.get(r)));
                }
            }
        }
        for (int i = 0; i < outputs.size(); i++) {
            Value output = source.outputs().get(i);
            graph.name(name(output), outputs.get(i));
            proto.addOutput(info(outputs.get(i), output));
        }
        return ModelProto.newBuilder()
                .setIrVersion(IR_VERSION)
                .setProducerName("Saccade")
                .setProducerVersion(Version.saccade())
                .addOpsetImport(OperatorSetIdProto.newBuilder().setVersion(opset))
                .setGraph(proto);
    }

    String name(Value value) {
        return list(value).get(0);
    }

    List<String> list(Value value) {
        return names.computeIfAbsent(value, weight -> List.of(weight(weight)));
    }

    private String weight(Value weight) {
        return matrices.contains(weight)
                ? graph.transpose(transposed(weight).orElseThrow(), List.of(1L, 0L))
                : graph.weight(weightNames.get(weight), tensor(weight));
    }

    private Tensor tensor(Value weight) {
        return source.weights().get(weight).tensor();
    }

    /** Returns the name of the transposed matrix of a linear layer if the matrix is a weight. */
    Optional<String> transposed(Value matrix) {
        return matrices.contains(matrix)
                ? Optional.of(
                        transposed.computeIfAbsent(
                                matrix,
                                weight ->
                                        graph.weight(
                                                weightNames.get(weight),
                                                transposed(tensor(weight)))))
                : Optional.empty();
    }

    private static Tensor transposed(Tensor matrix) {
        int rows = Math.toIntExact(matrix.shape().get(0));
        int columns = Math.toIntExact(matrix.shape().get(1));
        int[] places =
                IntStream.range(0, rows * columns)
                        .map(i -> i % rows * columns + i / rows)
                        .toArray();
        return matrix.gather(new Shape(columns, rows), places);
    }

    /** Returns the length of a list of tensors, known from the operator that unpacks the list. */
    int parts(Value list) {
        return source.nodes().stream()
                .filter(node -> node.inputs().anyMatch(list::equals))
                .mapToInt(node -> node.results().size())
                .max()
                .orElse(0);
    }

    /** Returns the name of a variable size. */
    private static String axis(String name, int axis) {
        if (axis == 0) {
            return "N";
        }
        return name.equals("images") ? List.of("C", "H", "W").get(axis - 1) : name + "_" + axis;
    }

    /** Describes an input or output, with a name for each variable size. */
    private ValueInfoProto info(String name, Value value) {
        TensorShapeProto.Builder shape = TensorShapeProto.newBuilder();
        for (int a = 0; a < value.sizes().size(); a++) {
            TensorShapeProto.Dimension.Builder size = TensorShapeProto.Dimension.newBuilder();
            long known = value.sizes().get(a);
            shape.addDim(known < 0 ? size.setDimParam(axis(name, a)) : size.setDimValue(known));
        }
        TypeProto.Tensor.Builder tensor =
                TypeProto.Tensor.newBuilder()
                        .setElemType(OnnxTypes.of(value).getNumber())
                        .setShape(shape);
        return ValueInfoProto.newBuilder()
                .setName(name)
                .setType(TypeProto.newBuilder().setTensorType(tensor))
                .build();
    }
}
