package dev.saccade.export.onnx;

import ai.onnx.proto.OnnxMl.TensorProto.DataType;

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

    private OnnxTypes() {}

    static DataType of(Value value) {
        return switch (value.type()) {
            case "Float" -> DataType.FLOAT;
            case "Double" -> DataType.DOUBLE;
            case "Half" -> DataType.FLOAT16;
            case "BFloat16" -> DataType.BFLOAT16;
            case "Long" -> DataType.INT64;
            case "Int" -> DataType.INT32;
            case "Bool" -> DataType.BOOL;
            case "Byte" -> DataType.UINT8;
            default ->
                    throw SaccadeException.user(
                            "tensors of type %s cannot be exported to ONNX", value.type());
        };
    }

    /** Returns the type in which two are compared. */
    static DataType common(DataType a, DataType b) {
        return RANKS.indexOf(a) < RANKS.indexOf(b) ? b : a;
    }
}
