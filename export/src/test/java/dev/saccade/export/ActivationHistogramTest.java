package dev.saccade.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.util.Random;

class ActivationHistogramTest {

    private static final int COUNT = 100_000;

    private static ActivationRange range(float[]... maps) {
        ActivationHistogram histogram = new ActivationHistogram();
        for (float[] map : maps) {
            histogram.add(map);
        }
        return histogram.range();
    }

    private static double high(ActivationRange range) {
        return range.scale() * (255 - range.zeroPoint());
    }

    private static float[] uniform(double low, double high) {
        float[] values = new float[COUNT];
        Random random = new Random(1);
        for (int i = 0; i < COUNT; i++) {
            values[i] = (float) (low + (high - low) * random.nextDouble());
        }
        return values;
    }

    @Test
    void uniformValuesAreNotClipped() {
        ActivationRange range = range(uniform(-1, 3));
        assertEquals(3, high(range), 0.02);
        assertEquals(-1, -range.scale() * range.zeroPoint(), 0.02);
    }

    @Test
    void zeroIsTheSmallestNumberAfterRelu() {
        ActivationRange range = range(uniform(0, 5));
        assertEquals(0, range.zeroPoint());
        assertEquals(0, range.error(0));
    }

    @Test
    void clipsRareLargeValues() {
        float[] values = uniform(0, 1);
        values[0] = 10;
        double high = high(range(values));
        assertTrue(high < 9.5, high + "");
    }

    @Test
    void laterValuesWidenTheRange() {
        ActivationRange range = range(uniform(0, 0.01), uniform(-40, 0));
        assertEquals(-40, -range.scale() * range.zeroPoint(), 0.4);
    }

    @Test
    void ignoresValuesThatAreNotFinite() {
        float[] values = uniform(0, 1);
        values[0] = Float.NaN;
        values[1] = Float.POSITIVE_INFINITY;
        assertEquals(1, high(range(values)), 0.02);
    }

    @Test
    void mapsOfZerosHaveARange() {
        ActivationRange range = range(new float[COUNT]);
        assertTrue(range.scale() > 0);
        assertEquals(0, range.error(0));
    }
}
