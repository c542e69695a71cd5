package dev.saccade.datasets.classification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Finding;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

    @Test
    void repetitionsOfTheWrappedDataSetStayDistinct() {
        RepeatedAugmentation twice = new RepeatedAugmentation(repeated, 2);
        List<Integer> ofFirstImage =
                IntStream.range(0, 6).mapToObj(i -> twice.repetition(i)).toList();
        assertEquals(List.of(0, 1, 2, 3, 4, 5), ofFirstImage);
    }

    @Test
    void rejectsDetectors(@TempDir Path folder) throws IOException {
        Files.createDirectories(folder.resolve("cat"));
        RepeatedAugmentation.Config config = Configs.of(RepeatedAugmentation.Config.class);
        CheckOptions options = new CheckOptions(false, TargetKind.BOXES, 1, () -> {});
        String errors = config.check(folder, options).messages(Finding.Severity.ERROR).toString();
        assertTrue(errors.contains("the model detects objects; use its data set directly"), errors);
    }

    @Test
    void limitsTheNumberOfVersions() {
        RepeatedAugmentation many =
                new RepeatedAugmentation(new RepeatedAugmentation(images, 1000), 1000);
        SaccadeException failure =
                assertThrows(SaccadeException.class, () -> new RepeatedAugmentation(many, 1000));
        assertTrue(
                failure.getMessage().contains("1000 versions of 10000000 images exceed the limit"),
                failure.getMessage());
    }
}
