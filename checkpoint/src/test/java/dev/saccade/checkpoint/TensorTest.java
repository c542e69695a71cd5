package dev.saccade.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.types.Shape;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

class TensorTest {

    /** All 16-bit values. */
    private static Tensor all(ElementType type) {
        ByteBuffer bytes = ByteBuffer.allocate(2 << 16).order(ByteOrder.LITTLE_ENDIAN);
        for (int bits = 0; bits < 1 << 16; bits++) {
            bytes.putShort((short) bits);
        }
        return new Tensor(type, new Shape(1 << 16), bytes.flip());
    }

    private static float rounded(ElementType type, double value) {
        return Tensor.of(new Shape(), (float) value).rounded(type).floats().get();
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void keeps16BitValues(ElementType type) {
        FloatBuffer floats = all(type).floats();
        float[] values = new float[floats.remaining()];
        floats.get(values);
        FloatBuffer again = Tensor.of(new Shape(1 << 16), values).rounded(type).floats();
        for (float value : values) {
            assertEquals(value, again.get());
        }
    }

    @Test
    void roundsToTheNearest() {
        assertEquals(1, rounded(ElementType.FLOAT16, 1 + Math.pow(2, -11)));
        assertEquals(1 + Math.pow(2, -9), rounded(ElementType.FLOAT16, 1 + 3 * Math.pow(2, -11)));
        assertEquals(-1365 / 4096f, rounded(ElementType.FLOAT16, -1 / 3.0));
        assertEquals(65504, rounded(ElementType.FLOAT16, 65519.99));
        assertEquals(Float.POSITIVE_INFINITY, rounded(ElementType.FLOAT16, 65520));
        assertEquals(Math.scalb(1f, -24), rounded(ElementType.FLOAT16, 4e-8));
        assertEquals(0, rounded(ElementType.FLOAT16, 2e-8));
        assertEquals(171 / 512f, rounded(ElementType.BFLOAT16, 1 / 3.0));
        assertEquals(1, rounded(ElementType.BFLOAT16, 1 + Math.pow(2, -8)));
        assertEquals(1 + Math.pow(2, -6), rounded(ElementType.BFLOAT16, 1 + 3 * Math.pow(2, -8)));
    }
}
