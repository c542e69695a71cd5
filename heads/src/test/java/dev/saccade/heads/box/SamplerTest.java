package dev.saccade.heads.box;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.config.Configs;
import dev.saccade.core.SeededRandom;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.SplittableRandom;

class SamplerTest {

    /** Assigns an object to the first priors, and background to the others. */
    private static Assignment assignment(int positives, int negatives) {
        int[] gtInds = new int[positives + negatives];
        Arrays.fill(gtInds, 0, positives, 1);
        return new Assignment(gtInds, new float[gtInds.length]);
    }

    @Test
    void whatIsDrawnIsWhatCounts() {
        SplittableRandom random = new SplittableRandom(0);
        assertEquals(
                7, Configs.of(RandomSampler.class).sample(assignment(3, 4), random).avgFactor());
        assertEquals(
                2, Configs.of(RandomSampler.class).sample(assignment(0, 0), random).avgFactor());
    }

    @Test
    void thePseudoSamplerTakesAllThatIsAssigned() {
        Assignment assignment = new Assignment(new int[] {0, 2, -1, 1, 0}, new float[5]);
        SamplingResult all = new PseudoSampler().sample(assignment, new SplittableRandom(0));
        assertArrayEquals(new int[] {1, 3}, all.posInds());
        assertArrayEquals(new int[] {0, 4}, all.negInds());
        assertArrayEquals(new int[] {1, 0}, assignment.objects(all.posInds()));
        assertEquals(2, all.avgFactor());
    }

    @Test
    void aSamplerTakesAllOfFew() {
        SamplingResult drawn =
                Configs.of(RandomSampler.class).sample(assignment(3, 4), new SplittableRandom(0));
        assertArrayEquals(new int[] {0, 1, 2}, drawn.posInds());
        assertArrayEquals(new int[] {3, 4, 5, 6}, drawn.negInds());
    }

    @Test
    void aSamplerKeepsToItsNumbers() {
        RandomSampler sampler = new RandomSampler(10, 0.25, -1, false);
        SamplingResult drawn = sampler.sample(assignment(50, 100), new SplittableRandom(0));
        assertEquals(2, drawn.posInds().length);
        assertEquals(8, drawn.negInds().length);
        assertArrayEquals(sorted(drawn.negInds()), drawn.negInds());
        RandomSampler bounded = new RandomSampler(10, 0.25, 1.5, false);
        assertEquals(
                3, bounded.sample(assignment(2, 100), new SplittableRandom(0)).negInds().length);
        assertEquals(
                1, bounded.sample(assignment(0, 100), new SplittableRandom(0)).negInds().length);
    }

    @Test
    void aSamplerFavorsNobody() {
        RandomSampler sampler = new RandomSampler(5, 0, -1, false);
        int[] times = new int[20];
        for (int draw = 0; draw < 4000; draw++) {
            for (int i : sampler.sample(assignment(0, 20), SeededRandom.of(1, draw)).negInds()) {
                times[i]++;
            }
        }
        for (int count : times) {
            // A standard deviation is 27.
            assertEquals(1000, count, 140);
        }
    }

    private static int[] sorted(int[] values) {
        return Arrays.stream(values).sorted().distinct().toArray();
    }
}
