package dev.saccade.export.onnx;

import ai.djl.ndarray.types.Shape;
import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.AttributeProto.AttributeType;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.TensorProto.DataType;

import com.google.common.primitives.Longs;
import com.google.protobuf.ByteString;

import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.SaccadeException;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Builder of an ONNX graph. Values are identified by name. */
final class OnnxGraph {

    private static final int AXES_ARE_INPUT = 18;

    private final GraphProto.Builder graph;
    private final Map<List<Object>, String> constants = new HashMap<>();
    private final int opset;
    private int created;

    OnnxGraph(GraphProto.Builder graph, int opset) {
        this.graph = graph;
        this.opset = opset;
    }

    /** Adds a reduction. The axes are an attribute before opset 18, and an input since then. */
    String reduce(String operator, String tensor, List<Long> axes, boolean keepsAxes) {
        AttributeProto keeps = attribute("keepdims", keepsAxes);
        if (opset < AXES_ARE_INPUT) {
            return add(operator, List.of(tensor), attribute("axes", axes), keeps);
        }
        return add(operator, List.of(tensor, integers(Longs.toArray(axes))), keeps);
    }

    /** Adds an operator and returns the name of its only result. */
    String add(String operator, List<String> inputs, AttributeProto... attributes) {
        return add(operator, inputs, 1, attributes).get(0);
    }

    String add(String operator, String... inputs) {
        return add(operator, List.of(inputs));
    }

    /** Adds an operator and returns the names of its results. */
    List<String> add(
            String operator, List<String> inputs, int results, AttributeProto... attributes) {
        NodeProto.Builder node =
                NodeProto.newBuilder()
                        .setOpType(operator)
                        .setName(operator + "_" + created)
                        .addAllInput(inputs)
                        .addAllAttribute(Arrays.asList(attributes));
        for (int r = 0; r < results; r++) {
            node.addOutput("x" + created++);
        }
        graph.addNode(node);
        return List.copyOf(node.getOutputList());
    }

    String transpose(String tensor, List<Long> order) {
        return add("Transpose", List.of(tensor), attribute("perm", order));
    }

    /** Adds output {@code name} with the given value. */
    void name(String value, String name) {
        graph.addNode(
                NodeProto.newBuilder()
                        .setOpType("Identity")
                        .setName("output_" + name)
                        .addInput(value)
                        .addOutput(name));
    }

    String weight(String name, Tensor tensor) {
        DataType type = OnnxTypes.of(tensor.type().torchName());
        add(name, type, ByteString.copyFrom(tensor.data()), tensor.shape());
        return name;
    }

    private void add(String name, DataType type, ByteString content, Shape shape) {
        graph.addInitializer(
                TensorProto.newBuilder()
                        .setName(name)
                        .setDataType(type.getNumber())
                        .setRawData(content)
                        .addAllDims(Longs.asList(shape.getShape())));
    }

    /** Returns a constant {@code [N]} int64. */
    String integers(long... values) {
        ByteBuffer bytes =
                ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asLongBuffer().put(values);
        return constant(DataType.INT64, bytes, new Shape(values.length));
    }

    /** Returns a constant {@code []} of a type. */
    String scalar(Number value, DataType type) {
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        switch (type) {
            case FLOAT -> bytes.putFloat(value.floatValue());
            case FLOAT16 -> {
                Tensor number = Tensor.of(new Shape(), value.floatValue());
                bytes.put(number.rounded(ElementType.FLOAT16).data());
            }
            case DOUBLE -> bytes.putDouble(value.doubleValue());
            case INT64 -> bytes.putLong(value.longValue());
            case INT32 -> bytes.putInt(value.intValue());
            case UINT8 -> bytes.put(value.byteValue());
            case BOOL -> bytes.put((byte) (value.doubleValue() == 0 ? 0 : 1));
            default ->
                    throw SaccadeException.user(
                            "constants of type %s cannot be" + " exported to ONNX", type);
        }
        return constant(type, bytes.limit(bytes.position()).rewind(), new Shape());
    }

    /** Adds a constant, or reuses an equal one. */
    private String constant(DataType type, ByteBuffer bytes, Shape shape) {
        ByteString content = ByteString.copyFrom(bytes);
        String name = "number." + constants.size();
        String same = constants.putIfAbsent(List.of(type, shape, content), name);
        if (same == null) {
            add(name, type, content, shape);
        }
        return same == null ? name : same;
    }

    static AttributeProto attribute(String name, boolean value) {
        return attribute(name, value ? 1 : 0);
    }

    static AttributeProto attribute(String name, long value) {
        return attribute(name, AttributeType.INT).setI(value).build();
    }

    static AttributeProto attribute(String name, float value) {
        return attribute(name, AttributeType.FLOAT).setF(value).build();
    }

    static AttributeProto attribute(String name, String value) {
        return attribute(name, AttributeType.STRING).setS(ByteString.copyFromUtf8(value)).build();
    }

    static AttributeProto attribute(String name, List<Long> values) {
        return attribute(name, AttributeType.INTS).addAllInts(values).build();
    }

    private static AttributeProto.Builder attribute(String name, AttributeType type) {
        return AttributeProto.newBuilder().setName(name).setType(type);
    }
}
