package dev.saccade.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.ImmutableList;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * An output of the Open Inference Protocol.
 *
 * @param values Float for FP32, Integer for INT32, String for BYTES
 */
record OutputTensor(String name, Type type, List<Integer> shape, List<?> values) {

    enum Type {
        FP32,
        INT32,
        BYTES
    }

    OutputTensor {
        shape = ImmutableList.copyOf(shape);
    }

    /** Returns the length of the binary data. */
    int byteLength() {
        if (type != Type.BYTES) {
            return Math.multiplyExact(values.size(), Integer.BYTES);
        }
        int length = 0;
        for (Object text : values) {
            length = Math.addExact(length, Integer.BYTES + bytes(text).length);
        }
        return length;
    }

    /** Writes binary data to a little-endian buffer; each text follows its length. */
    void write(ByteBuffer target) {
        for (Object value : values) {
            if (value instanceof Float number) {
                target.putFloat(number);
            } else if (value instanceof Integer number) {
                target.putInt(number);
            } else {
                byte[] text = bytes(value);
                target.putInt(text.length).put(text);
            }
        }
    }

    private static byte[] bytes(Object text) {
        return ((String) text).getBytes(UTF_8);
    }
}
