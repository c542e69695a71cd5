package dev.saccade.datasets.loader;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Groups images by aspect ratio.
 *
 * <p>Wide images (width over height above 1) never share a batch with others, to reduce padding.
 * Each group is shuffled and filled up to whole batches by repeating its start; then the batches
 * are shuffled, as a function of seed and epoch. Follows mmdetection's {@code GroupSampler}; a
 * group smaller than a batch repeats several times.
 */
record GroupSampler(List<ImmutableIntArray> groups, int batchSize, long seed) implements Sampler {

    /** Creates a sampler of the images that are trained on; throws if there are none. */
    static GroupSampler of(Dataset dataset, int batchSize, long seed) {
        checkArgument(batchSize > 0, "batch_size: got %s, expected a positive number", batchSize);
        ImmutableIntArray trained = Sampler.trained(dataset, TargetKind.BOXES);
        List<ImmutableIntArray> groups =
                Stream.of(false, true)
                        .map(wide -> trained.stream().filter(i -> isWide(dataset.image(i)) == wide))
                        .map(ImmutableIntArray::copyOf)
                        .filter(group -> !group.isEmpty())
                        .toList();
        if (groups.isEmpty()) {
            throw Sampler.nothingToTrainOn(dataset);
        }
        return new GroupSampler(groups, batchSize, seed);
    }

    private static boolean isWide(ImageFile image) {
        return image.size().width() > image.size().height();
    }

    int size() {
        return groups.stream().mapToInt(ImmutableIntArray::length).sum();
    }

    @Override
    public int batchesPerEpoch() {
        return groups.stream()
                .mapToInt(group -> (group.length() + batchSize - 1) / batchSize)
                .sum();
    }

    @Override
    public List<ImmutableIntArray> epoch(int epoch) {
        SplittableRandom random = SeededRandom.of(seed, epoch);
        List<ImmutableIntArray> batches = new ArrayList<>();
        for (ImmutableIntArray group : groups) {
            List<Integer> order = new ArrayList<>(group.asList());
            SeededRandom.shuffle(order, random);
            for (int start = 0; start < order.size(); start += batchSize) {
                ImmutableIntArray.Builder batch = ImmutableIntArray.builder(batchSize);
                for (int i = start; i < start + batchSize; i++) {
                    batch.add(order.get(i % order.size()));
                }
                batches.add(batch.build());
            }
        }
        SeededRandom.shuffle(batches, random);
        return batches;
    }
}
