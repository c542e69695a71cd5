package dev.saccade.datasets.loader;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SeededRandom;
import dev.saccade.datasets.Dataset;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Shuffles all images in every epoch and drops the last incomplete batch, as mmsegmentation does;
 * repeats images if there are fewer than a batch.
 */
record ShuffledSampler(Dataset dataset, int batchSize, long seed) implements Sampler {

    ShuffledSampler {
        checkArgument(batchSize > 0, "batch_size: got %s, expected a positive number", batchSize);
    }

    /** Creates a sampler of all images; throws if there are none. */
    static ShuffledSampler of(Dataset dataset, int batchSize, long seed) {
        if (dataset.size() == 0) {
            throw Sampler.nothingToTrainOn(dataset);
        }
        return new ShuffledSampler(dataset, batchSize, seed);
    }

    @Override
    public int batchesPerEpoch() {
        return Math.max(1, dataset.epochSize() / batchSize);
    }

    @Override
    public List<ImmutableIntArray> epoch(int epoch) {
        ImmutableIntArray order = dataset.shuffled(SeededRandom.of(seed, epoch));
        return IntStream.range(0, batchesPerEpoch())
                .mapToObj(batch -> batch(order, batch * batchSize))
                .toList();
    }

    private ImmutableIntArray batch(ImmutableIntArray order, int start) {
        ImmutableIntArray.Builder batch = ImmutableIntArray.builder(batchSize);
        IntStream.range(start, start + batchSize)
                .forEach(i -> batch.add(order.get(i % order.length())));
        return batch.build();
    }
}
