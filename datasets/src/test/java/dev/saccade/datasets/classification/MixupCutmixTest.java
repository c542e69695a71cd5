package dev.saccade.datasets.classification;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ClassTarget;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.BatchAugment;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

class MixupCutmixTest {

    private static final Size SIZE = new Size(8, 10);
    private static final int VALUES = 3 * 80;

    private static final MixupCutmix MIXUP = new MixupCutmix(0.8, 0, 1, 0.5, false);
    private static final MixupCutmix CUTMIX = new MixupCutmix(0, 1, 1, 0.5, false);

    /** Returns images of class i whose pixels are i. */
    private static BatchAugment.Images batch(int count) {
        float[] pixels = new float[count * VALUES];
        for (int i = 0; i < pixels.length; i++) {
            int image = i / VALUES;
            pixels[i] = image;
        }
        List<ClassTarget> targets =
                new ArrayList<>(IntStream.range(0, count).mapToObj(ClassTarget::of).toList());
        return new BatchAugment.Images(FloatBuffer.wrap(pixels), SIZE, targets);
    }

    private static BatchAugment.Images mixed(MixupCutmix augment, int count, long seed) {
        BatchAugment.Images batch = batch(count);
        augment.apply(batch, new SplittableRandom(seed));
        return batch;
    }

    private static double mean(BatchAugment.Images batch, int image) {
        return IntStream.range(image * VALUES, (image + 1) * VALUES)
                .mapToDouble(batch.pixels()::get)
                .average()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theTargetIsTheFractionOfPixels(boolean perPair) {
        for (MixupCutmix augment :
                List.of(
                        new MixupCutmix(0.8, 0, 1, 0.5, perPair),
                        new MixupCutmix(0, 1, 1, 0.5, perPair),
                        new MixupCutmix(0.8, 1, 1, 0.5, perPair))) {
            for (int seed = 0; seed < 50; seed++) {
                BatchAugment.Images batch = mixed(augment, 6, seed);
                for (int i = 0; i < 6; i++) {
                    ClassTarget target = batch.targets().get(i);
                    assertEquals(i, target.label());
                    double expected = target.weight() * i + (1 - target.weight()) * (5 - i);
                    assertEquals(expected, mean(batch, i), 1e-5);
                }
            }
        }
    }

    @Test
    void sharesTheFractionUnlessPairsHaveTheirOwn() {
        Set<Double> shared = new HashSet<>();
        mixed(MIXUP, 8, 3).targets().forEach(target -> shared.add(target.weight()));
        assertEquals(1, shared.size());
        Set<Double> own = new HashSet<>();
        mixed(new MixupCutmix(0.8, 0, 1, 0.5, true), 8, 3)
                .targets()
                .forEach(target -> own.add(target.weight()));
        assertEquals(4, own.size());
    }

    @Test
    void cutmixCopiesWholePixels() {
        BatchAugment.Images batch = mixed(CUTMIX, 4, 5);
        for (int i = 0; i < 4 * VALUES; i++) {
            float value = batch.pixels().get(i);
            int image = i / VALUES;
            assertTrue(value == image || value == 3 - image, "value " + value);
        }
        assertTrue(batch.targets().get(0).weight() < 1);
    }

    @Test
    void keepsTheMiddleImageOfAnOddBatch() {
        for (MixupCutmix augment : List.of(MIXUP, CUTMIX)) {
            BatchAugment.Images batch = mixed(augment, 5, 1);
            assertEquals(ClassTarget.of(2), batch.targets().get(2));
            assertEquals(2, mean(batch, 2));
            assertEquals(4, batch.targets().get(0).other());
            assertEquals(ClassTarget.of(0), mixed(augment, 1, 1).targets().get(0));
        }
    }

    @Test
    void dependsOnTheRandomNumbersOnly() {
        MixupCutmix augment = new MixupCutmix(0.8, 1, 1, 0.5, true);
        BatchAugment.Images first = mixed(augment, 6, 9);
        BatchAugment.Images second = mixed(augment, 6, 9);
        assertArrayEquals(first.pixels().array(), second.pixels().array());
        assertEquals(first.targets(), second.targets());
        assertNotEquals(first.targets(), mixed(augment, 6, 10).targets());
    }

    @Test
    void mixesWithTheirProbabilities() {
        MixupCutmix augment = new MixupCutmix(0.8, 1, 0.6, 0.25, false);
        int unmixed = 0;
        int cutmix = 0;
        for (int seed = 0; seed < 4000; seed++) {
            BatchAugment.Images batch = mixed(augment, 2, seed);
            float[] values = batch.pixels().array();
            boolean whole = IntStream.range(0, values.length).allMatch(i -> values[i] % 1 == 0);
            if (batch.targets().equals(batch(2).targets())) {
                unmixed++;
            } else if (whole) {
                cutmix++;
            }
        }
        // Some rectangles of CutMix are empty.
        assertEquals(0.4, unmixed / 4000.0, 0.05);
        assertEquals(0.15, cutmix / 4000.0, 0.03);
    }

    @Test
    void rejectsImagesThatAreMixedAlready() {
        BatchAugment.Images batch = mixed(MIXUP, 4, 1);
        SaccadeException problem =
                assertThrows(
                        SaccadeException.class, () -> CUTMIX.apply(batch, new SplittableRandom(1)));
        assertTrue(problem.getMessage().contains("mixed already"), problem.getMessage());
    }

    @Test
    void rejectsSettingsWithoutEffect() {
        assertThrows(IllegalArgumentException.class, () -> new MixupCutmix(0, 0, 1, 0.5, false));
        assertThrows(IllegalArgumentException.class, () -> new MixupCutmix(1, 0, 1.5, 0.5, false));
    }

    @Test
    void leavesPixelsOfUnmixedBatches() {
        BatchAugment.Images batch = mixed(new MixupCutmix(0.8, 1, 0, 0.5, false), 4, 1);
        assertTrue(Arrays.equals(batch(4).pixels().array(), batch.pixels().array()));
        assertEquals(batch(4).targets(), batch.targets());
    }
}
