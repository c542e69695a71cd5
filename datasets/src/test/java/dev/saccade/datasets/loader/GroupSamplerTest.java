package dev.saccade.datasets.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

class GroupSamplerTest {

    @TempDir Path folder;

    @Test
    void groupsByAspectRatioAndUsesEveryImage() {
        GroupSampler sampler = GroupSampler.of(photos(), 2, 5);
        for (int epoch = 0; epoch < 20; epoch++) {
            List<ImmutableIntArray> batches = sampler.epoch(epoch);
            assertEquals(sampler.batchesPerEpoch(), batches.size());
            for (ImmutableIntArray batch : batches) {
                assertEquals(2, batch.length());
                assertEquals(1, batch.asList().stream().map(i -> i < 3).distinct().count());
            }
            Set<Integer> shown =
                    batches.stream()
                            .flatMap(batch -> batch.asList().stream())
                            .collect(Collectors.toSet());
            assertEquals(Set.of(0, 1, 2, 3, 4), shown);
        }
    }

    @Test
    void isAFunctionOfSeedAndEpoch() {
        GroupSampler sampler = GroupSampler.of(photos(), 2, 5);
        assertEquals(sampler.epoch(4), GroupSampler.of(photos(), 2, 5).epoch(4));
        assertNotEquals(sampler.epoch(4), sampler.epoch(5));
        assertNotEquals(sampler.epoch(4), GroupSampler.of(photos(), 2, 6).epoch(4));
    }

    @Test
    void repeatsAGroupSmallerThanABatch() {
        GroupSampler sampler =
                GroupSampler.of(new ImageFolder(folder).add(60, 40).add(40, 60), 3, 5);
        assertEquals(2, sampler.batchesPerEpoch());
        assertTrue(sampler.epoch(0).contains(ImmutableIntArray.of(0, 0, 0)));
    }

    @Test
    void skipsTinyImagesAndImagesWithoutObjects() {
        ImageFolder photos = new ImageFolder(folder).add(60, 40).addEmpty(60, 40).add(60, 31);
        assertEquals(1, GroupSampler.of(photos, 1, 5).size());
    }

    @Test
    void reportsThatThereIsNothingToTrainOn() {
        ImageFolder photos = new ImageFolder(folder).addEmpty(60, 40);
        assertEquals(
                "nothing to train on: none of 1 image contains a cat, a dog",
                assertThrows(SaccadeException.class, () -> GroupSampler.of(photos, 1, 5))
                        .getMessage());
    }

    @ParameterizedTest
    @EnumSource(TargetKind.class)
    void rejectsDataSetsWithoutImages(TargetKind targets) {
        ImageFolder photos = new ImageFolder(folder);
        SaccadeException rejected =
                assertThrows(SaccadeException.class, () -> Sampler.of(photos, targets, 1, 5));
        assertEquals(SaccadeException.Kind.USER, rejected.kind());
        assertEquals("nothing to train on: the data set has no images", rejected.getMessage());
    }

    /** Three that are wide and two that are not; a square is not. */
    private ImageFolder photos() {
        return new ImageFolder(folder).add(60, 40).add(61, 60).add(90, 40).add(40, 40).add(40, 60);
    }
}
