package dev.saccade.datasets.loader;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.TrainingTargets;

import java.util.List;
import java.util.stream.IntStream;

/** Selects and orders the images of training batches. */
interface Sampler {

    /**
     * Returns the sampler for a task: grouped by aspect ratio for objects; all images together for
     * label maps only and for classes, as they are cropped to one size.
     */
    static Sampler of(Dataset dataset, TargetKind targets, int batchSize, long seed) {
        return targets.hasObjects()
                ? GroupSampler.of(dataset, batchSize, seed)
                : ShuffledSampler.of(dataset, batchSize, seed);
    }

    /**
     * Returns the ascending indices of the images to train on: all images for label maps and
     * classes, otherwise the images for which {@link TrainingTargets#keeps} returns true.
     */
    static ImmutableIntArray trained(Dataset dataset, TargetKind targets) {
        return ImmutableIntArray.copyOf(
                IntStream.range(0, dataset.size())
                        .filter(
                                i ->
                                        !targets.hasObjects()
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
}
