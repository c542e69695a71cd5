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
 * <p>A training loop sets the sample ids around its forward pass. Elsewhere, each call of {@link
 * #of} returns the next generator of its thread, from seed 0.
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

    /** Returns the generators of this thread, for repeating a forward pass. */
    static SampleRandom current() {
        SampleRandom draws = CURRENT.get();
        return draws == null ? new SampleRandom(THREAD_RANDOM.get().nextLong(), 0, n -> n) : draws;
    }

    /** Runs a forward pass with these generators. */
    <T> T call(Supplier<T> forward) {
        return ThreadLocals.call(CURRENT, this, forward);
    }

    /** Returns the generator for the n-th sample and a layer, usually {@link Module#path()}. */
    public static SplittableRandom of(int n, String layer) {
        SampleRandom draws = CURRENT.get();
        return draws == null
                ? THREAD_RANDOM.get().split()
                : SeededRandom.of(draws.seed, layer, draws.epoch, draws.samples.applyAsLong(n));
    }
}
