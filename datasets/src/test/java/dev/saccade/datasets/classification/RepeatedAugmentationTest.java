package dev.saccade.datasets.classification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SeededRandom;

import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

class RepeatedAugmentationTest {

    private final LabeledImages images = new LabeledImages(10, List.of("cat", "dog", "cow"));
    private final RepeatedAugmentation repeated = new RepeatedAugmentation(images, 3);

    @Test
    void anEpochHasConsecutiveVersionsOfSomeImages() {
        assertEquals(10, repeated.epochSize());
        ImmutableIntArray order = repeated.shuffled(SeededRandom.of(1, 0));
        assertEquals(10, order.length());
        ImmutableIntArray wrapped = images.shuffled(SeededRandom.of(1, 0));
        for (int i = 0; i < order.length(); i++) {
            assertEquals(i % 3, repeated.repetition(order.get(i)));
            assertEquals(images.image(wrapped.get(i / 3)), repeated.image(order.get(i)));
        }
        assertEquals(10, new HashSet<>(order.asList()).size());
    }

    @Test
    void theOrderDependsOnTheRandomNumbersOnly() {
        assertEquals(
                repeated.shuffled(SeededRandom.of(1, 4)), repeated.shuffled(SeededRandom.of(1, 4)));
        assertNotEquals(
                repeated.shuffled(SeededRandom.of(1, 4)), repeated.shuffled(SeededRandom.of(1, 5)));
        HashSet<Long> seen = new HashSet<>();
        for (int epoch = 0; epoch < 30; epoch++) {
            repeated.shuffled(SeededRandom.of(1, epoch))
                    .forEach(i -> seen.add(repeated.image(i).id()));
        }
        assertEquals(10, seen.size());
    }

    @Test
    void versionsShareImageAndLabel() {
        assertEquals(30, repeated.size());
        assertEquals(images.classes(), repeated.classes());
        for (int i = 0; i < repeated.size(); i++) {
            int index = i;
            assertEquals(images.image(i / 3), repeated.image(i));
            assertEquals(images.image(i / 3), repeated.images().get(i));
            assertEquals(images.label(i / 3), repeated.label(i));
            assertTrue(IntStream.range(0, 3).anyMatch(k -> k == repeated.repetition(index)));
        }
        assertEquals(OptionalInt.of(2), repeated.label(8));
    }
}
