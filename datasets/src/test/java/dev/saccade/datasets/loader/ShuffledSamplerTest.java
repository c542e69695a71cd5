package dev.saccade.datasets.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.primitives.ImmutableIntArray;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import org.junit.jupiter.api.Test;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

class ShuffledSamplerTest {

    @Property(tries = 200)
    void givesWholeBatchesOfDifferentImages(
            @ForAll @IntRange(min = 1, max = 60) int size,
            @ForAll @IntRange(min = 1, max = 20) int batchSize,
            @ForAll long seed,
            @ForAll @IntRange(min = 0, max = 1000) int epoch) {
        ShuffledSampler sampler = new ShuffledSampler(new UnlabeledImages(size), batchSize, seed);
        List<ImmutableIntArray> batches = sampler.epoch(epoch);
        assertEquals(sampler.batchesPerEpoch(), batches.size());
        assertEquals(Math.max(1, size / batchSize), batches.size());
        Set<Integer> seen = new HashSet<>();
        for (ImmutableIntArray batch : batches) {
            assertEquals(batchSize, batch.length());
            batch.stream().forEach(i -> assertTrue(i >= 0 && i < size, "image " + i));
            seen.addAll(batch.asList());
        }
        assertEquals(Math.min(size, batches.size() * batchSize), seen.size());
        assertEquals(
                batches,
                new ShuffledSampler(new UnlabeledImages(size), batchSize, seed).epoch(epoch));
    }

    @Test
    void dropsOtherImagesInOtherEpochs() {
        ShuffledSampler sampler = new ShuffledSampler(new UnlabeledImages(9), 4, 3);
        Set<Integer> seen = new HashSet<>();
        for (int epoch = 0; epoch < 20; epoch++) {
            sampler.epoch(epoch).forEach(batch -> seen.addAll(batch.asList()));
        }
        assertEquals(9, seen.size());
        assertNotEquals(sampler.epoch(0), sampler.epoch(1));
        assertNotEquals(
                sampler.epoch(0), new ShuffledSampler(new UnlabeledImages(9), 4, 4).epoch(0));
    }

    @Test
    void repeatsImagesIfFewerThanABatch() {
        List<Integer> batch =
                new ShuffledSampler(new UnlabeledImages(3), 9, 5).epoch(0).get(0).asList();
        for (int i = 0; i < 3; i++) {
            assertEquals(3, Collections.frequency(batch, i));
        }
    }
}
