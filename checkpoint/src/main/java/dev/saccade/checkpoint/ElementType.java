package dev.saccade.checkpoint;

import ai.djl.ndarray.types.DataType;

import java.util.Arrays;
import java.util.Optional;

/** Element type of a stored tensor. */
public enum ElementType {
    /** 64-bit floating point. */
    FLOAT64("F64", "Double", "f8", Double.BYTES),
    /** 32-bit floating point. */
    FLOAT32("F32", "Float", "f4", Float.BYTES),
    /** IEEE half precision. */
    FLOAT16("F16", "Half", "f2", Short.BYTES),
    /** The upper half of a 32-bit floating point number. */
    BFLOAT16("BF16", "BFloat16", "bfloat16", Short.BYTES),
    /** 64-bit integer. */
    INT64("I64", "Long", "i8", Long.BYTES),
    /** 32-bit integer. */
    INT32("I32", "Int", "i4", Integer.BYTES),
    /** 16-bit integer. */
    INT16("I16", "Short", "i2", Short.BYTES),
    /** 8-bit integer. */
    INT8("I8", "Char", "i1", Byte.BYTES),
    /** 8-bit integer without sign. */
    UINT8("U8", "Byte", "u1", Byte.BYTES),
    /** A byte that is 0 or 1. */
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

    /** Returns the size of an element in bytes. */
    public int bytes() {
        return bytes;
    }

    /** Returns whether the elements are floating-point numbers. */
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
                .orElseThrow(() -> new MalformedException("dtype %s is not read", name));
    }

    public static ElementType ofTorchStorage(String name) {
        return Arrays.stream(values())
                .filter(type -> name.equals(type.torchName + "Storage"))
                .findAny()
                .orElseThrow(() -> new MalformedException("tensors of %s are not read", name));
    }

    /** Returns the type of a NumPy dtype, such as {@code f4}; empty if it is not read. */
    public static Optional<ElementType> ofNumpy(String name) {
        return Arrays.stream(values()).filter(type -> type.numpyName.equals(name)).findAny();
    }

    /** Returns the type of a DJL array; the names are the same. */
    public static ElementType of(DataType type) {
        return valueOf(type.name());
    }
}
