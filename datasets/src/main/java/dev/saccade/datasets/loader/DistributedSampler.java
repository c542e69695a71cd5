package dev.saccade.datasets.loader;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The batches of one of several ranks, which part every epoch among them: rank r has the batches r,
 * r + W, r + 2 W, … of W ranks.
 *
 * <p>So W ranks that take A batches each take the steps that one process takes with W · A batches.
 * None is repeated, as PyTorch's class of the same name does: in the last step of an epoch a rank
 * may have a batch less than others, or none.
 *
 * @param all gives the batches of all ranks
 * @param rank which one this is
 * @param worldSize how many there are
 * @param dropLast whether batches that are too few for all ranks are left out
 */
record DistributedSampler(Sampler all, int rank, int worldSize, boolean dropLast)
        implements Sampler {

    DistributedSampler {
        if (dropLast && all.batchesPerEpoch() < worldSize) {
            throw SaccadeException.user(
                    "the model computes with all ranks at a time and needs a batch for each of %s"
                            + " ranks, but an epoch has %s; start fewer, or set a smaller"
                            + " data.batch_size",
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
