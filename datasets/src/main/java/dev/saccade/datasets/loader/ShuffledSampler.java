package dev.saccade.datasets.loader;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SeededRandom;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * All photographs in an order that is drawn for every epoch; those left over at its end, too few
 * for a batch, wait for another epoch. Follows mmsegmentation; but where all photographs are fewer
 * than a batch, they repeat as often as it takes.
 *
 * @param size number of photographs
 * @param batchSize photographs of a batch
 * @param seed the order is a function of seed and epoch
 */
record ShuffledSampler(int size, int batchSize, long seed) implements Sampler {

    ShuffledSampler {
        checkArgument(batchSize > 0, "batch_size: a positive number expected, got %s", batchSize);
        checkArgument(size > 0, "there are no photographs to train on");
    }

    @Override
    public int batchesPerEpoch() {
        return Math.max(1, size / batchSize);
    }

    @Override
    public List<ImmutableIntArray> epoch(int epoch) {
        List<Integer> order = new ArrayList<>(IntStream.range(0, size).boxed().toList());
        Sampler.shuffle(order, SeededRandom.of(seed, epoch));
        return IntStream.range(0, batchesPerEpoch())
                .mapToObj(batch -> batch(order, batch * batchSize))
                .toList();
    }

    private ImmutableIntArray batch(List<Integer> order, int start) {
        ImmutableIntArray.Builder batch = ImmutableIntArray.builder(batchSize);
        IntStream.range(start, start + batchSize).forEach(i -> batch.add(order.get(i % size)));
        return batch.build();
    }
}
