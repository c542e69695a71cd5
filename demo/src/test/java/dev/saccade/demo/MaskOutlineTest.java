package dev.saccade.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.structures.Size;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

import org.junit.jupiter.api.Test;

import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;

class MaskOutlineTest {

    @Test
    void rectangleHasFourCorners() {
        Size size = new Size(5, 6);
        BitSet mask = new BitSet();
        mask.set(6 + 2, 6 + 5);
        mask.set(12 + 2, 12 + 5);

        assertEquals(
                List.of(ImmutableIntArray.of(5, 1, 5, 3, 2, 3, 2, 1)),
                MaskOutline.polygons(mask, size));
    }

    @Test
    void emptyMaskHasNoPolygons() {
        assertTrue(MaskOutline.polygons(new BitSet(), new Size(3, 3)).isEmpty());
    }

    @Test
    void pixelsThatTouchAtACornerAreTwoPolygons() {
        BitSet mask = new BitSet();
        mask.set(0);
        mask.set(3);

        assertEquals(2, MaskOutline.polygons(mask, new Size(2, 2)).size());
    }

    /** Random pixels have holes, islands in holes, and touching corners. */
    @Property(tries = 300)
    void polygonsCoverExactlyTheMask(
            @ForAll @IntRange(min = 1, max = 9) int height,
            @ForAll @IntRange(min = 1, max = 9) int width,
            @ForAll @LongRange(min = 0) long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        double density = random.nextDouble();
        BitSet mask = new BitSet();
        for (int i = 0; i < height * width; i++) {
            mask.set(i, random.nextDouble() < density);
        }

        List<ImmutableIntArray> polygons = MaskOutline.polygons(mask, new Size(height, width));

        for (int i = 0; i < height * width; i++) {
            double x = i % width + 0.5;
            int row = i / width;
            long covering =
                    polygons.stream().filter(p -> Polygons.contains(p, x, row + 0.5)).count();
            assertEquals(mask.get(i) ? 1 : 0, covering, "pixel " + i + " of " + mask);
        }
    }
}
