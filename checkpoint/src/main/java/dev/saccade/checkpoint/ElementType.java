package dev.saccade.checkpoint;

import ai.djl.ndarray.types.DataType;

import java.util.Arrays;

/** Element type of a stored tensor. */
public enum ElementType {
    /** 64-bit floating point. */
    FLOAT64("F64", "DoubleStorage", Double.BYTES),
    /** 32-bit floating point. */
    FLOAT32("F32", "FloatStorage", Float.BYTES),
    /** IEEE half precision. */
    FLOAT16("F16", "HalfStorage", Short.BYTES),
    /** The upper half of a 32-bit floating point number. */
    BFLOAT16("BF16", "BFloat16Storage", Short.BYTES),
    /** 64-bit integer. */
    INT64("I64", "LongStorage", Long.BYTES),
    /** 32-bit integer. */
    INT32("I32", "IntStorage", Integer.BYTES),
    /** 16-bit integer. */
    INT16("I16", "ShortStorage", Short.BYTES),
    /** 8-bit integer. */
    INT8("I8", "CharStorage", Byte.BYTES),
    /** 8-bit integer without sign. */
    UINT8("U8", "ByteStorage", Byte.BYTES),
    /** A byte that is 0 or 1. */
    BOOLEAN("BOOL", "BoolStorage", Byte.BYTES);

    private final String safeTensorsName;
    private final String torchStorage;
    private final int bytes;

    ElementType(String safeTensorsName, String torchStorage, int bytes) {
        this.safeTensorsName = safeTensorsName;
        this.torchStorage = torchStorage;
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

    public String torchStorage() {
        return torchStorage;
    }

    static ElementType ofSafeTensors(String name) {
        return Arrays.stream(values())
                .filter(type -> type.safeTensorsName.equals(name))
                .findAny()
                .orElseThrow(() -> new MalformedException("dtype %s is not read", name));
    }

    public static ElementType ofTorchStorage(String name) {
        return Arrays.stream(values())
                .filter(type -> type.torchStorage.equals(name))
                .findAny()
                .orElseThrow(() -> new MalformedException("tensors of %s are not read", name));
    }

    /** Returns the type of a DJL array; the names are the same. */
    static ElementType of(DataType type) {
        return valueOf(type.name());
    }
}
