package dev.saccade.datasets.labels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.io.BaseEncoding;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.Random;

class BrushRleTest {

    /** {@code label_studio_sdk.converter.brush.mask2rle} of a 2x3 mask 0 1 1 / 0 0 1. */
    private static final byte[] SDK = BaseEncoding.base16().decode("00000018391BFC6013FFCE011FF8");

    @Test
    void equalsSdk() {
        Rle mask = Rle.encode(new Size(2, 3), new byte[] {0, 1, 1, 0, 0, 1});
        assertEquals(mask, BrushRle.decode(SDK, new Size(2, 3)));
        assertEquals(mask, BrushRle.decode(BrushRle.encode(mask), new Size(2, 3)));
    }

    @Test
    void decodesWhatItEncodes() {
        Random random = new Random(1);
        for (int i = 0; i < 50; i++) {
            Size size = new Size(1 + random.nextInt(300), 1 + random.nextInt(300));
            byte[] pixels = new byte[(int) size.area()];
            for (int at = 0; at < pixels.length; ) {
                int end = Math.min(pixels.length, at + 1 + random.nextInt(1 << random.nextInt(17)));
                Arrays.fill(pixels, at, end, (byte) random.nextInt(2));
                at = end;
            }
            Rle mask = Rle.encode(size, pixels);
            assertEquals(mask, BrushRle.decode(BrushRle.encode(mask), size));
        }
    }

    @Test
    void rejectsDamagedData() {
        Size size = new Size(2, 3);
        byte[] valid = BrushRle.encode(Rle.encode(size, new byte[] {0, 1, 1, 0, 0, 1}));
        for (int length = 0; length < valid.length; length++) {
            byte[] cut = Arrays.copyOf(valid, length);
            assertThrows(SaccadeException.class, () -> BrushRle.decode(cut, size), "" + length);
        }
        String huge =
                assertThrows(
                                SaccadeException.class,
                                () -> BrushRle.decode(valid, new Size(30_000, 30_000)))
                        .getMessage();
        assertTrue(huge.contains("expected 3600000000"), huge);
        Random random = new Random(2);
        for (int i = 0; i < 2000; i++) {
            byte[] damaged = valid.clone();
            damaged[4 + random.nextInt(damaged.length - 4)] ^= (byte) (1 << random.nextInt(8));
            try {
                assertEquals(size, BrushRle.decode(damaged, size).size());
            } catch (SaccadeException e) {
                assertTrue(e.getMessage().startsWith("rle: "), e.getMessage());
            }
        }
    }
}
