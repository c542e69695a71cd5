package dev.saccade.cli.fuzz;

import dev.saccade.core.SeededRandom;

import java.util.List;
import java.util.SplittableRandom;

/**
 * The inputs of a target, each a function of the seed and its number: first the target's own, then
 * what mutations make of them.
 */
final class Inputs {

    private static final int MAX_DOUBLINGS = 5;

    private final FuzzTarget target;
    private final long seed;
    private final List<byte[]> seeds;
    private final Mutations mutations;

    Inputs(FuzzTarget target, long seed) {
        this.target = target;
        this.seed = seed;
        this.seeds = target.seeds();
        this.mutations = new Mutations(target.format(), target.words());
    }

    /** Returns input {@code number}, from 0. */
    byte[] get(long number) {
        if (number < seeds.size()) {
            return seeds.get((int) number);
        }
        SplittableRandom random = SeededRandom.of(seed, target.name().hashCode(), number);
        byte[] input = any(random);
        // Half of them change once, a quarter twice, an eighth four times, and so on.
        int doublings = Math.min(MAX_DOUBLINGS, Long.numberOfTrailingZeros(random.nextLong()));
        for (int rounds = 1 << doublings; rounds > 0; rounds--) {
            input = mutations.mutate(input, any(random), random);
        }
        return input;
    }

    private byte[] any(SplittableRandom random) {
        return seeds.get(random.nextInt(seeds.size()));
    }
}
