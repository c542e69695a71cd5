package dev.saccade.datasets.loader;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.TrainingTargets;

import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Decides which photographs of a data set are trained on together, and in which order. */
interface Sampler {

    /**
     * Returns the sampler that suits what is learned: like sizes together for objects, whose
     * photographs keep their shape; all photographs in one for label maps alone, which are cropped
     * to one size.
     *
     * @throws SaccadeException if there is nothing to train on
     */
    static Sampler of(Dataset dataset, TargetKind targets, int batchSize, long seed) {
        return targets == TargetKind.LABEL_MAPS
                ? new ShuffledSampler(dataset.size(), batchSize, seed)
                : GroupSampler.of(dataset, batchSize, seed);
    }

    /**
     * Returns the positions of the photographs that are trained on, ascending: of objects, those
     * that {@link TrainingTargets#keeps} keeps, and all whose pixels are labeled.
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

    /** Returns the number of batches of every epoch, those of all ranks together. */
    int batchesPerEpoch();

    /**
     * Returns the batches of an epoch that this rank learns from: positions in the data set; a
     * function of the epoch.
     */
    List<ImmutableIntArray> epoch(int epoch);

    /** Puts a list into an order that is drawn. */
    static void shuffle(List<?> list, SplittableRandom random) {
        for (int i = list.size() - 1; i > 0; i--) {
            Collections.swap(list, i, random.nextInt(i + 1));
        }
    }
}
