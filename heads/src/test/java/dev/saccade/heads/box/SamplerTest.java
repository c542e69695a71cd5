package dev.saccade.heads.box;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ai.djl.ndarray.NDManager;

import dev.saccade.config.Configs;
import dev.saccade.core.SeededRandom;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.Comparator;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

class SamplerTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    /** Assigns an object to the first priors, and background to the others. */
    private Assignment assignment(int positives, int negatives) {
        long[] gtInds = new long[positives + negatives];
        Arrays.fill(gtInds, 0, positives, 1);
        return Rows.assignment(manager, gtInds);
    }

    private static SamplingResult draw(BaseSampler sampler, Assignment assignment) {
        return SamplingResult.sample(sampler, assignment, new SplittableRandom(0));
    }

    @Test
    void averagesLossesOverTheSamples() {
        RandomSampler sampler = Configs.of(RandomSampler.class);
        assertEquals(7, draw(sampler, assignment(3, 4)).avgFactor().getFloat());
        assertEquals(2, draw(sampler, assignment(0, 0)).avgFactor().getFloat());
    }

    @Test
    void pseudoSamplerKeepsAllAssignedPriors() {
        SamplingResult all = draw(new PseudoSampler(), Rows.assignment(manager, 0, 2, -1, 1, 0));
        assertArrayEquals(new int[] {1, 3}, Rows.where(all.posMask()));
        assertArrayEquals(new int[] {0, 4}, Rows.where(all.negMask()));
        assertEquals(2, all.avgFactor().getFloat());
    }

    @Test
    void keepsAllPriorsIfThereAreFew() {
        SamplingResult drawn = draw(Configs.of(RandomSampler.class), assignment(3, 4));
        assertArrayEquals(new int[] {0, 1, 2}, Rows.where(drawn.posMask()));
        assertArrayEquals(new int[] {3, 4, 5, 6}, Rows.where(drawn.negMask()));
    }

    @Test
    void respectsTheConfiguredNumbers() {
        SamplingResult drawn = draw(new RandomSampler(10, 0.25, -1, false), assignment(50, 100));
        assertEquals(2, Rows.where(drawn.posMask()).length);
        assertEquals(8, Rows.where(drawn.negMask()).length);
        assertArrayEquals(
                new int[0],
                Arrays.stream(Rows.where(drawn.posMask())).filter(i -> i >= 50).toArray());
        assertArrayEquals(
                new int[0],
                Arrays.stream(Rows.where(drawn.negMask())).filter(i -> i < 50).toArray());
        RandomSampler bounded = new RandomSampler(10, 0.25, 1.5, false);
        assertEquals(3, Rows.where(draw(bounded, assignment(2, 100)).negMask()).length);
        assertEquals(1, Rows.where(draw(bounded, assignment(0, 100)).negMask()).length);
    }

    @Test
    void sameSeedGivesTheSameSamples() {
        RandomSampler sampler = new RandomSampler(10, 0.5, -1, false);
        Assignment assignment = assignment(50, 100);
        int[] first = Rows.where(draw(sampler, assignment).negMask());
        assertArrayEquals(first, Rows.where(draw(sampler, assignment).negMask()));
        SamplingResult other = sampler.sample(assignment, new SplittableRandom(1));
        assertFalse(Arrays.equals(first, Rows.where(other.negMask())));
    }

    /** Computes the hashes with Java integers. */
    @Test
    void samplesThePriorsWithTheLargestHashes() {
        SamplingResult drawn = draw(new RandomSampler(6, 0.5, -1, false), assignment(20, 40));
        long seed = new SplittableRandom(0).nextLong() >>> 33;
        assertArrayEquals(largest(seed, 0, 20), Rows.where(drawn.posMask()));
        assertArrayEquals(largest(seed, 20, 60), Rows.where(drawn.negMask()));
    }

    /** Returns the three positions with the largest hashes. */
    private static int[] largest(long seed, int from, int to) {
        return IntStream.range(from, to)
                .boxed()
                .sorted(Comparator.comparing(i -> -hash((int) (seed + i))))
                .limit(3)
                .mapToInt(i -> i)
                .sorted()
                .toArray();
    }

    private static long hash(int x) {
        int h = (x ^ (x >>> 16)) * 0x7FEB352D;
        h = (h ^ (h >>> 15)) * 0x846CA68B;
        return h & 0xFFFFFFFFL;
    }

    @Test
    void samplesUniformly() {
        RandomSampler sampler = new RandomSampler(5, 0, -1, false);
        Assignment assignment = assignment(0, 20);
        int[] times = new int[20];
        int[][] pairs = new int[20][20];
        for (int draw = 0; draw < 4000; draw++) {
            int[] drawn =
                    Rows.where(sampler.sample(assignment, SeededRandom.of(1, draw)).negMask());
            for (int i : drawn) {
                times[i]++;
                for (int j : drawn) {
                    pairs[i][j]++;
                }
            }
        }
        for (int i = 0; i < 20; i++) {
            // The standard deviation is 27; for pairs, 14.
            assertEquals(1000, times[i], 140);
            for (int j = 0; j < i; j++) {
                assertEquals(4000 * 5 * 4 / 380f, pairs[i][j], 75);
            }
        }
    }
}
