package dev.saccade.cli.fuzz;

import dev.saccade.core.SeededRandom;

import java.util.List;
import java.util.SplittableRandom;

/**
 * The inputs of a door, each a function of the seed and its number: first the door's own, then what
 * mutations make of them.
 */
final class Inputs {

    private static final int MOST_DOUBLINGS = 5;

    private final Door door;
    private final long seed;
    private final List<byte[]> seeds;
    private final Mutations mutations;

    Inputs(Door door, long seed) {
        this.door = door;
        this.seed = seed;
        this.seeds = door.seeds();
        this.mutations = new Mutations(door.format(), door.words());
    }

    /** Returns input {@code number}, from 0. */
    byte[] get(long number) {
        if (number < seeds.size()) {
            return seeds.get((int) number);
        }
        SplittableRandom random = SeededRandom.of(seed, door.name().hashCode(), number);
        byte[] input = any(random);
        // Half of them change once, a quarter twice, an eighth four times, and so on.
        int doublings = Math.min(MOST_DOUBLINGS, Long.numberOfTrailingZeros(random.nextLong()));
        for (int rounds = 1 << doublings; rounds > 0; rounds--) {
            input = mutations.mutate(input, any(random), random);
        }
        return input;
    }

    private byte[] any(SplittableRandom random) {
        return seeds.get(random.nextInt(seeds.size()));
    }
}
