package dev.saccade.core.nn;

import dev.saccade.core.SeededRandom;
import dev.saccade.core.ThreadLocals;

import java.util.SplittableRandom;
import java.util.function.IntToLongFunction;
import java.util.function.Supplier;

/**
 * Random numbers for layers such as {@link DropPath} and for samplers of heads. A generator depends
 * only on (seed, epoch, sample id) and the dotted name of the layer.
 *
 * <p>A training loop runs its forward pass in {@code call}, which sets the sample ids. Outside of
 * {@code call}, {@link #of} splits generators from one generator per thread, seeded with 0.
 */
public final class SampleRandom {

    private static final ThreadLocal<SampleRandom> CURRENT = new ThreadLocal<>();
    private static final ThreadLocal<SplittableRandom> THREAD_RANDOM =
            ThreadLocal.withInitial(() -> SeededRandom.of(0));

    private final long seed;
    private final long epoch;
    private final IntToLongFunction samples;

    private SampleRandom(long seed, long epoch, IntToLongFunction samples) {
        this.seed = seed;
        this.epoch = epoch;
        this.samples = samples;
    }

    /** Runs a forward pass of a batch; {@code samples} are unique sample ids, such as image ids. */
    public static <T> T call(long seed, long epoch, long[] samples, Supplier<T> forward) {
        long[] names = samples.clone();
        return new SampleRandom(seed, epoch, n -> names[n]).call(forward);
    }

    /** Returns the state of this thread; {@link #call(Supplier)} repeats a forward pass with it. */
    static SampleRandom current() {
        SampleRandom draws = CURRENT.get();
        return draws == null ? new SampleRandom(THREAD_RANDOM.get().nextLong(), 0, n -> n) : draws;
    }

    /** Runs a forward pass in which {@link #of} uses this state. */
    <T> T call(Supplier<T> forward) {
        return ThreadLocals.call(CURRENT, this, forward);
    }

    /** Returns the generator of batch element {@code n} for a layer path or other name. */
    public static SplittableRandom of(int n, String layer) {
        SampleRandom draws = CURRENT.get();
        return draws == null
                ? THREAD_RANDOM.get().split()
                : SeededRandom.of(draws.seed, layer, draws.epoch, draws.samples.applyAsLong(n));
    }
}
