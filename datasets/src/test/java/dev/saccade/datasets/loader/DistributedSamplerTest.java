package dev.saccade.datasets.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

class DistributedSamplerTest {

    private static final int BATCH = 2;

    private static List<List<ImmutableIntArray>> slices(
            Sampler all, int worldSize, boolean dropLast, int epoch) {
        List<List<ImmutableIntArray>> slices = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            slices.add(new DistributedSampler(all, rank, worldSize, dropLast).epoch(epoch));
        }
        return slices;
    }

    /** Steps of W ranks with A batches each have the batches that steps of W A batches have. */
    @Property(tries = 300)
    void ranksPartTheStepsOfOneProcess(
            @ForAll @IntRange(min = 1, max = 60) int images,
            @ForAll @IntRange(min = 1, max = 9) int worldSize,
            @ForAll @IntRange(min = 1, max = 4) int accumulation,
            @ForAll @IntRange(min = 0, max = 3) int epoch) {
        Sampler all = new ShuffledSampler(new UnlabeledImages(images), BATCH, 7);
        List<ImmutableIntArray> batches = all.epoch(epoch);
        List<List<ImmutableIntArray>> slices = slices(all, worldSize, false, epoch);
        List<ImmutableIntArray> found = new ArrayList<>();
        for (int step = 0; found.size() < batches.size(); step++) {
            for (int i = step * accumulation; i < (step + 1) * accumulation; i++) {
                for (List<ImmutableIntArray> slice : slices) {
                    if (i < slice.size()) {
                        found.add(slice.get(i));
                    }
                }
            }
        }
        assertEquals(batches, found);
        assertEquals(batches.size(), slices.stream().mapToInt(List::size).sum());
    }

    @Property(tries = 100)
    void withoutTheLastAllHaveAsMany(
            @ForAll @IntRange(min = 20, max = 60) int images,
            @ForAll @IntRange(min = 1, max = 9) int worldSize) {
        Sampler all = new ShuffledSampler(new UnlabeledImages(images), BATCH, 7);
        List<List<ImmutableIntArray>> slices = slices(all, worldSize, true, 0);
        int each = all.batchesPerEpoch() / worldSize;
        slices.forEach(slice -> assertEquals(each, slice.size()));
        assertEquals(
                each * worldSize,
                new DistributedSampler(all, 0, worldSize, true).batchesPerEpoch());
    }

    @Test
    void rejectsTooFewBatchesForAllRanks() {
        Sampler all = new ShuffledSampler(new UnlabeledImages(6), BATCH, 7);
        SaccadeException e =
                assertThrows(SaccadeException.class, () -> new DistributedSampler(all, 0, 4, true));
        assertTrue(e.getMessage().contains("4 ranks, but an epoch has 3 batches"), e.getMessage());
    }
}
