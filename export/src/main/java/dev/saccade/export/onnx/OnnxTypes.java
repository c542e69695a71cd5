package dev.saccade.export.onnx;

import ai.onnx.proto.OnnxMl.TensorProto.DataType;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.export.Graph.Value;

import java.util.List;

/** The types of elements, as ONNX calls them. */
final class OnnxTypes {

    /** From the type that gives way to that which others become. */
    private static final List<DataType> RANKS =
            List.of(
                    DataType.BOOL,
                    DataType.UINT8,
                    DataType.INT32,
                    DataType.INT64,
                    DataType.FLOAT16,
                    DataType.FLOAT,
                    DataType.DOUBLE);

    private static final ImmutableMap<String, DataType> BY_NAME =
            ImmutableMap.of(
                    "Float", DataType.FLOAT,
                    "Double", DataType.DOUBLE,
                    "Half", DataType.FLOAT16,
                    "BFloat16", DataType.BFLOAT16,
                    "Long", DataType.INT64,
                    "Int", DataType.INT32,
                    "Bool", DataType.BOOL,
                    "Byte", DataType.UINT8);

    private OnnxTypes() {}

    static DataType of(Value value) {
        return of(value.type());
    }

    /** Returns the type for libtorch's name. */
    static DataType of(String name) {
        DataType type = BY_NAME.get(name);
        if (type == null) {
            throw SaccadeException.user("tensors of type %s cannot be exported to ONNX", name);
        }
        return type;
    }

    /** Returns the type in which two are compared. */
    static DataType common(DataType a, DataType b) {
        return RANKS.indexOf(a) < RANKS.indexOf(b) ? b : a;
    }
}
