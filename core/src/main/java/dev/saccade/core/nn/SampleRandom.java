package dev.saccade.core.nn;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.ThreadLocals;

import java.util.SplittableRandom;
import java.util.function.IntToLongFunction;
import java.util.function.Supplier;

/**
 * What layers that draw lots in training, such as {@link DropPath} and the samplers of heads, draw
 * from: for every sample of the batch a generator that is a function of (seed, epoch, sample) and
 * of the dotted name under which the layer stands in the model.
 *
 * <p>A training loop names the samples around its forward pass. Outside of that, each draw is the
 * next one of its thread, with seed 0.
 */
public final class SampleRandom {

    private static final ThreadLocal<SampleRandom> CURRENT = new ThreadLocal<>();
    private static final ThreadLocal<SplittableRandom> UNNAMED =
            ThreadLocal.withInitial(() -> SeededRandom.of(0));

    private final long seed;
    private final long epoch;
    private final IntToLongFunction samples;

    private SampleRandom(long seed, long epoch, IntToLongFunction samples) {
        this.seed = seed;
        this.epoch = epoch;
        this.samples = samples;
    }

    /**
     * Runs a forward pass whose draws belong to samples.
     *
     * @param seed the seed of the run
     * @param epoch the epoch, so that a sample draws anew in each
     * @param samples what tells each sample of the batch from all others, such as its image id
     */
    public static <T> T call(long seed, long epoch, long[] samples, Supplier<T> forward) {
        long[] names = samples.clone();
        return new SampleRandom(seed, epoch, n -> names[n]).call(forward);
    }

    /** Returns what this thread draws from, such that a forward pass can draw the same again. */
    static SampleRandom current() {
        SampleRandom draws = CURRENT.get();
        return draws == null ? new SampleRandom(UNNAMED.get().nextLong(), 0, n -> n) : draws;
    }

    /** Runs a forward pass that draws from here. */
    <T> T call(Supplier<T> forward) {
        return ThreadLocals.call(CURRENT, this, forward);
    }

    /**
     * Returns the generator of a layer for the n-th sample of the batch.
     *
     * @param layer tells the layer from all others that draw; mostly its {@link Module#path()}
     */
    public static SplittableRandom of(int n, String layer) {
        SampleRandom draws = CURRENT.get();
        return draws == null
                ? UNNAMED.get().split()
                : SeededRandom.of(draws.seed, layer, draws.epoch, draws.samples.applyAsLong(n));
    }
}
