package dev.saccade.datasets.loader;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The batches of one rank: rank r of W ranks has batches r, r + W, r + 2 W, … of each epoch.
 *
 * <p>So W ranks that accumulate A batches take the same steps as one process that accumulates W ·
 * A. Unlike PyTorch's class, no batch is repeated: in the last step of an epoch, a rank may have
 * one batch fewer than others.
 *
 * @param all batches of all ranks
 * @param dropLast whether to drop the last batches if there is not one for each rank
 */
record DistributedSampler(Sampler all, int rank, int worldSize, boolean dropLast)
        implements Sampler {

    DistributedSampler {
        if (dropLast && all.batchesPerEpoch() < worldSize) {
            throw SaccadeException.user(
                    "every step of this model needs a batch for each of %s ranks, but an epoch has"
                            + " %s batches; start fewer ranks, or reduce data.batch_size",
                    worldSize, all.batchesPerEpoch());
        }
    }

    @Override
    public int batchesPerEpoch() {
        return dropLast
                ? all.batchesPerEpoch() - all.batchesPerEpoch() % worldSize
                : all.batchesPerEpoch();
    }

    @Override
    public List<ImmutableIntArray> epoch(int epoch) {
        List<ImmutableIntArray> batches = all.epoch(epoch);
        int own = (batchesPerEpoch() - rank + worldSize - 1) / worldSize;
        return IntStream.range(0, own).mapToObj(i -> batches.get(i * worldSize + rank)).toList();
    }
}
