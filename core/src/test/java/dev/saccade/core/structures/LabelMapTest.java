package dev.saccade.core.structures;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

import java.nio.LongBuffer;
import java.util.Map;

class LabelMapTest {

    private static final LabelMap MAP =
            LabelMap.of(new Size(2, 3), new short[] {0, 1, 2, (short) 40_000, -1, 5});

    @Test
    void labelsAreUnsigned() {
        assertEquals(40_000, MAP.get(1, 0));
        assertEquals(LabelMap.IGNORE, MAP.get(1, 1));
    }

    @Test
    void resizesToNearestNeighbors() {
        assertEquals(
                LabelMap.of(new Size(1, 5), new short[] {0, 0, 1, 1, 2}),
                MAP.resize(new Size(1, 5)));
        assertEquals(MAP, MAP.resize(new Size(6, 9)).resize(new Size(2, 3)));
    }

    @Test
    void cropsFlipsAndPads() {
        assertEquals(
                LabelMap.of(new Size(2, 1), new short[] {2, 5}), MAP.crop(0, 2, new Size(2, 1)));
        assertEquals(2, MAP.flipHorizontal().get(0, 0));
        assertEquals(MAP, MAP.flipHorizontal().flipHorizontal());
        assertEquals(40_000, MAP.flipVertical().get(0, 0));
        assertEquals(MAP, MAP.flipVertical().flipVertical());
        LabelMap padded = MAP.pad(new Size(3, 4));
        assertEquals(LabelMap.IGNORE, padded.get(2, 0));
        assertEquals(LabelMap.IGNORE, padded.get(0, 3));
        assertEquals(MAP, padded.crop(0, 0, MAP.size()));
        assertThrows(
                IllegalArgumentException.class, () -> MAP.crop(1, 0, new Size(2, 3)).toString());
    }

    @Test
    void countsClassesAndIgnoredPixels() {
        LabelMap map = LabelMap.of(new Size(1, 4), new short[] {1, 1, -1, 0});
        assertArrayEquals(new long[] {1, 2, 0, 1}, map.histogram(3));
        assertThrows(IllegalArgumentException.class, () -> map.histogram(1));
    }

    @Test
    void returnsMaxClassRatio() {
        LabelMap map = LabelMap.of(new Size(1, 5), new short[] {7, 7, -1, (short) 40_000, -1});
        assertEquals(2 / 3.0, map.maxClassRatio());
        assertEquals(1, LabelMap.filled(new Size(2, 2), LabelMap.IGNORE).maxClassRatio());
    }

    @Test
    void returnsMaskPerClass() {
        LabelMap map = LabelMap.of(new Size(2, 3), new short[] {0, 1, 1, 0, -1, 0});
        assertEquals(
                Map.of(
                        0, Rle.encode(map.size(), new byte[] {1, 0, 0, 1, 0, 1}),
                        1, Rle.encode(map.size(), new byte[] {0, 1, 1, 0, 0, 0})),
                map.masks());
        assertEquals(Map.of(), LabelMap.filled(new Size(2, 3), LabelMap.IGNORE).masks());
    }

    @Test
    void copiesIgnoredPixels() {
        LabelMap masked = LabelMap.filled(MAP.size(), 7).copyIgnored(MAP);
        assertArrayEquals(new long[] {0, 0, 0, 0, 0, 0, 0, 5, 1}, masked.histogram(8));
        assertEquals(LabelMap.IGNORE, masked.get(1, 1));
    }

    @Test
    void writesInt64() {
        LongBuffer numbers = LongBuffer.allocate(6);
        MAP.write(numbers);
        assertArrayEquals(new long[] {0, 1, 2, 40_000, -1, 5}, numbers.array());
    }

    @Test
    void fillsWithOneLabel() {
        assertArrayEquals(new long[] {0, 0, 6, 0}, LabelMap.filled(new Size(2, 3), 2).histogram(3));
    }
}
