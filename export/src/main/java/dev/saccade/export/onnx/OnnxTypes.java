package dev.saccade.export.onnx;

import ai.onnx.proto.OnnxMl.TensorProto.DataType;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.export.Graph.Value;

/** Element types of ONNX. */
final class OnnxTypes {

    /** ONNX's types by libtorch's names, in the order of type promotion. */
    private static final ImmutableMap<String, DataType> TYPES =
            ImmutableMap.of(
                    "Bool", DataType.BOOL,
                    "Byte", DataType.UINT8,
                    "Char", DataType.INT8,
                    "Int", DataType.INT32,
                    "Long", DataType.INT64,
                    "BFloat16", DataType.BFLOAT16,
                    "Half", DataType.FLOAT16,
                    "Float", DataType.FLOAT,
                    "Double", DataType.DOUBLE);

    private OnnxTypes() {}

    static DataType of(Value value) {
        return of(value.type());
    }

    static DataType of(String name) {
        DataType type = TYPES.get(name);
        if (type == null) {
            throw SaccadeException.user("tensors of type %s cannot be exported to ONNX", name);
        }
        return type;
    }

    /** Returns the type to which two types are promoted. */
    static DataType common(DataType a, DataType b) {
        ImmutableList<DataType> order = TYPES.values().asList();
        return order.indexOf(a) < order.indexOf(b) ? b : a;
    }
}
