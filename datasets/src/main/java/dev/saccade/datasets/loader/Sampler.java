package dev.saccade.datasets.loader;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.TrainingTargets;

import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Selects and orders the images of training batches. */
interface Sampler {

    /**
     * Returns the sampler for a task: grouped by aspect ratio for objects; all images together for
     * label maps only, as they are cropped to one size.
     */
    static Sampler of(Dataset dataset, TargetKind targets, int batchSize, long seed) {
        return targets == TargetKind.LABEL_MAPS
                ? ShuffledSampler.of(dataset, batchSize, seed)
                : GroupSampler.of(dataset, batchSize, seed);
    }

    /**
     * Returns the ascending indices of the images to train on: all images for label maps, otherwise
     * the images for which {@link TrainingTargets#keeps} returns true.
     */
    static ImmutableIntArray trained(Dataset dataset, TargetKind targets) {
        return ImmutableIntArray.copyOf(
                IntStream.range(0, dataset.size())
                        .filter(
                                i ->
                                        targets == TargetKind.LABEL_MAPS
                                                || TrainingTargets.keeps(
                                                        dataset.image(i), dataset.annotations(i))));
    }

    /** Returns the error for a data set without images to train on. */
    static SaccadeException nothingToTrainOn(Dataset dataset) {
        return SaccadeException.user(
                "nothing to train on: %s",
                ObjectStatistics.emptyReason(dataset.size(), dataset.classes()));
    }

    /** Returns the number of batches per epoch of all ranks together. */
    int batchesPerEpoch();

    /** Returns the batches of an epoch for this rank, as indices into the data set. */
    List<ImmutableIntArray> epoch(int epoch);

    static void shuffle(List<?> list, SplittableRandom random) {
        for (int i = list.size() - 1; i > 0; i--) {
            Collections.swap(list, i, random.nextInt(i + 1));
        }
    }
}
