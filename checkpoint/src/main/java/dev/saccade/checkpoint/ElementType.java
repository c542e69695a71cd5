package dev.saccade.checkpoint;

import ai.djl.ndarray.types.DataType;

import java.util.Arrays;
import java.util.Optional;

/** Element type of a stored tensor. */
public enum ElementType {
    FLOAT64("F64", "Double", "f8", Double.BYTES),
    FLOAT32("F32", "Float", "f4", Float.BYTES),
    FLOAT16("F16", "Half", "f2", Short.BYTES),
    BFLOAT16("BF16", "BFloat16", "bfloat16", Short.BYTES),
    INT64("I64", "Long", "i8", Long.BYTES),
    INT32("I32", "Int", "i4", Integer.BYTES),
    INT16("I16", "Short", "i2", Short.BYTES),
    INT8("I8", "Char", "i1", Byte.BYTES),
    UINT8("U8", "Byte", "u1", Byte.BYTES),
    BOOLEAN("BOOL", "Bool", "b1", Byte.BYTES);

    private final String safeTensorsName;
    private final String torchName;
    private final String numpyName;
    private final int bytes;

    ElementType(String safeTensorsName, String torchName, String numpyName, int bytes) {
        this.safeTensorsName = safeTensorsName;
        this.torchName = torchName;
        this.numpyName = numpyName;
        this.bytes = bytes;
    }

    /** Returns the size in bytes. */
    public int bytes() {
        return bytes;
    }

    public boolean isFloating() {
        return compareTo(BFLOAT16) <= 0;
    }

    String safeTensorsName() {
        return safeTensorsName;
    }

    /** Returns PyTorch's name, such as {@code Float} or {@code Long}. */
    public String torchName() {
        return torchName;
    }

    static ElementType ofSafeTensors(String name) {
        return Arrays.stream(values())
                .filter(type -> type.safeTensorsName.equals(name))
                .findAny()
                .orElseThrow(() -> new MalformedException("dtype %s is not supported", name));
    }

    public static ElementType ofTorchStorage(String name) {
        return Arrays.stream(values())
                .filter(type -> name.equals(type.torchName + "Storage"))
                .findAny()
                .orElseThrow(() -> new MalformedException("tensors of %s are not supported", name));
    }

    /** Returns the type of a NumPy dtype, such as {@code f4}; empty if unsupported. */
    public static Optional<ElementType> ofNumpy(String name) {
        return Arrays.stream(values()).filter(type -> type.numpyName.equals(name)).findAny();
    }

    /** Returns the type of a DJL array. */
    public static ElementType of(DataType type) {
        return valueOf(type.name());
    }
}
