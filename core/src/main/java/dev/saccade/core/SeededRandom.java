package dev.saccade.core;

import com.google.common.primitives.Longs;

import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The only source of randomness: generators that depend only on a seed and a key. Results do not
 * depend on threads, call order or resuming.
 */
public final class SeededRandom {

    private SeededRandom() {}

    /** Returns the generator of a seed and key; the order of the key's numbers matters. */
    public static SplittableRandom of(long seed, long... key) {
        long state = mix(seed + 0x9E3779B97F4A7C15L);
        for (long part : key) {
            state = mix(state ^ mix(part + 0x9E3779B97F4A7C15L)) + 0xD1B54A32D192ED03L;
        }
        return new SplittableRandom(state);
    }

    /** Returns the generator of a seed, a name (such as of a parameter or layer) and a key. */
    public static SplittableRandom of(long seed, String name, long... key) {
        long hash = 0xCBF29CE484222325L;
        for (int i = 0; i < name.length(); i++) {
            hash = (hash ^ name.charAt(i)) * 0x100000001B3L;
        }
        return of(seed, Longs.concat(new long[] {hash}, key));
    }

    /** Shuffles a list in place. */
    public static void shuffle(List<?> list, SplittableRandom random) {
        for (int i = list.size() - 1; i > 0; i--) {
            Collections.swap(list, i, random.nextInt(i + 1));
        }
    }

    private static long mix(long z) {
        long x = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        x = (x ^ (x >>> 27)) * 0x94D049BB133111EBL;
        return x ^ (x >>> 31);
    }
}
