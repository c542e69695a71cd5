package dev.saccade.datasets.image;

import java.nio.ByteBuffer;

/** Number format of the stored values of a {@link Raster}. */
public enum SampleType {
    UINT8(1),
    INT8(1),
    UINT16(2),
    INT16(2),
    UINT32(4),
    INT32(4),
    FLOAT16(2),
    FLOAT32(4),
    FLOAT64(8);

    private static final int HALF_BIAS_CHANGE = 112;

    private final int bytes;

    SampleType(int bytes) {
        this.bytes = bytes;
    }

    /** Returns the bytes of a value. */
    public int bytes() {
        return bytes;
    }

    public boolean isFloat() {
        return this == FLOAT16 || this == FLOAT32 || this == FLOAT64;
    }

    /** Reads the value at a position in bytes, without rounding. */
    double read(ByteBuffer from, int at) {
        return switch (this) {
            case UINT8 -> Byte.toUnsignedInt(from.get(at));
            case INT8 -> from.get(at);
            case UINT16 -> Short.toUnsignedInt(from.getShort(at));
            case INT16 -> from.getShort(at);
            case UINT32 -> (double) Integer.toUnsignedLong(from.getInt(at));
            case INT32 -> from.getInt(at);
            case FLOAT16 -> half(from.getShort(at));
            case FLOAT32 -> from.getFloat(at);
            case FLOAT64 -> from.getDouble(at);
        };
    }

    /** Copies the bits of a value between buffers of any byte order. */
    void copy(ByteBuffer from, int at, ByteBuffer to, int target) {
        switch (bytes) {
            case 1 -> to.put(target, from.get(at));
            case 2 -> to.putShort(target, from.getShort(at));
            case 4 -> to.putInt(target, from.getInt(at));
            default -> to.putLong(target, from.getLong(at));
        }
    }

    /** Writes a value that this type can represent. */
    void write(ByteBuffer to, int at, double value) {
        switch (this) {
            case UINT8, INT8 -> to.put(at, (byte) value);
            case UINT16, INT16 -> to.putShort(at, (short) value);
            case UINT32, INT32 -> to.putInt(at, (int) (long) value);
            case FLOAT16 -> to.putShort(at, toHalf(value));
            case FLOAT32 -> to.putFloat(at, (float) value);
            case FLOAT64 -> to.putDouble(at, value);
        }
    }

    /** Returns the value of IEEE 754 binary16 bits; {@code Float.float16ToFloat} needs Java 20. */
    static float half(short bits) {
        int sign = (bits & 0x8000) << 16;
        int exponent = bits >> 10 & 0x1F;
        int fraction = bits & 0x3FF;
        if (exponent == 0) {
            float value = fraction * 0x1p-24f;
            return sign == 0 ? value : -value;
        }
        int wide = exponent == 0x1F ? 0xFF : exponent + HALF_BIAS_CHANGE;
        return Float.intBitsToFloat(sign | wide << 23 | fraction << 13);
    }

    /** Rounds toward zero; exact for values of {@link #half}. */
    private static short toHalf(double value) {
        int bits = Float.floatToIntBits((float) value);
        int sign = bits >>> 16 & 0x8000;
        int exponent = (bits >>> 23 & 0xFF) - HALF_BIAS_CHANGE;
        if (Double.isNaN(value)) {
            return (short) 0x7E00;
        }
        if (exponent >= 0x1F) {
            return (short) (sign | 0x7C00);
        }
        return (short)
                (exponent > 0
                        ? sign | (exponent << 10) | ((bits >> 13) & 0x3FF)
                        : sign | (int) (Math.abs(value) * 0x1p24));
    }
}
