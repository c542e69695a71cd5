package dev.saccade.cli.fuzz;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Small changes that make another input of one or two. */
final class Mutations {

    private static final int LONGEST = 1 << 16;
    private static final int LONGEST_STRETCH = 64;
    private static final int MAX_LOOKED_AT = 16;
    private static final int MAX_REPEATS = 1 << 10;

    private static final long[] EDGES = {
        0,
        1,
        -1,
        2,
        3,
        4,
        7,
        8,
        16,
        32,
        64,
        100,
        127,
        128,
        255,
        256,
        512,
        1000,
        1024,
        4096,
        10_000,
        32_767,
        32_768,
        65_535,
        65_536,
        100_000,
        1 << 20,
        178_956_970,
        1 << 30,
        Integer.MAX_VALUE,
        1L << 31,
        (1L << 32) - 1,
        1L << 32,
        1L << 40,
        Long.MAX_VALUE,
        Long.MIN_VALUE
    };

    private static final List<byte[]> WORDS =
            Texts.split(
                    "-0.0|0.1|1e-400|1e308|1e999|NaN|-Infinity|.inf|null|~|true|\"\"|"
                            + "''|[]|{}|[[|}}|--|=|:|,|\n|\r\n|\t|\0|\u0007|\u001b[31m|\u009b|"
                            + "\u202e|\ufeff|\u00e9|\ud83d\ude00|\\u0000|\\ud800|%s%n|../|$|@|*|"
                            + "&a|!!a|#");

    private final Format format;
    private final List<byte[]> words = new ArrayList<>();

    /**
     * Prepares mutations.
     *
     * @param format what the inputs are made of
     * @param words what else may be dropped into them
     */
    Mutations(Format format, List<byte[]> words) {
        this.format = format;
        this.words.addAll(WORDS);
        // The words of the target count as much as all the others.
        for (int i = 0; !words.isEmpty() && i < Math.max(WORDS.size(), words.size()); i++) {
            this.words.add(words.get(i % words.size()));
        }
    }

    /**
     * Returns what one change makes of an input.
     *
     * @param other another one, from which parts may be taken
     */
    byte[] mutate(byte[] input, byte[] other, SplittableRandom random) {
        List<byte[]> pieces = random.nextBoolean() ? format.cut(input) : List.of(input);
        byte[] changed =
                pieces.size() > 1
                        ? format.join(pieces(pieces, format.cut(other), random))
                        : bytes(input, other, random);
        return changed.length > LONGEST ? Arrays.copyOf(changed, LONGEST) : changed;
    }

    private List<byte[]> pieces(List<byte[]> pieces, List<byte[]> others, SplittableRandom random) {
        List<byte[]> changed = new ArrayList<>(pieces);
        int at = random.nextInt(pieces.size());
        switch (random.nextInt(10)) {
            case 0 -> changed.remove(at);
            case 1 -> changed.add(random.nextInt(pieces.size() + 1), pieces.get(at));
            case 2 -> changed.addAll(at, Collections.nCopies(repeats(random), pieces.get(at)));
            case 3 -> Collections.swap(changed, at, random.nextInt(pieces.size()));
            case 4 -> changed.set(numberFrom(pieces, at), number(random));
            case 5 -> changed.set(at, word(random));
            case 6 -> changed.set(at, bytes(pieces.get(at), pieces.get(at), random));
            case 7, 8 -> changed.set(at, alike(pieces.get(at), others, random));
            default -> {
                if (!others.isEmpty()) {
                    int from = random.nextInt(others.size());
                    int to = Math.min(others.size(), from + 1 + random.nextInt(8));
                    int until = Math.min(changed.size(), at + random.nextInt(8));
                    changed.subList(at, until).clear();
                    changed.addAll(at, others.subList(from, to));
                }
            }
        }
        return changed;
    }

    /** Returns the place of the first number from a place on, that place if there is none. */
    private static int numberFrom(List<byte[]> pieces, int at) {
        return IntStream.range(at, pieces.size())
                .filter(i -> kind(pieces.get(i)) == Character.DECIMAL_DIGIT_NUMBER)
                .findFirst()
                .orElse(at);
    }

    /** Returns one of several pieces that ends as a piece does, itself if none is found soon. */
    private static byte[] alike(byte[] piece, List<byte[]> others, SplittableRandom random) {
        return random.ints(MAX_LOOKED_AT, 0, Math.max(1, others.size()))
                .filter(i -> i < others.size() && kind(others.get(i)) == kind(piece))
                .mapToObj(others::get)
                .findFirst()
                .orElse(piece);
    }

    private static int kind(byte[] piece) {
        return piece.length == 0 ? 0 : Character.getType(piece[piece.length - 1]);
    }

    private byte[] bytes(byte[] input, byte[] other, SplittableRandom random) {
        if (input.length == 0) {
            return word(random);
        }
        int at = random.nextInt(input.length);
        int end = Math.min(input.length, at + 1 + random.nextInt(LONGEST_STRETCH));
        return switch (random.nextInt(12)) {
            case 0 -> with(input, at, (byte) (input[at] ^ 1 << random.nextInt(Byte.SIZE)));
            case 1 -> with(input, at, (byte) random.nextInt());
            case 2, 3 -> with(input, at, edge(random, input.length - at));
            case 4 -> with(input, at, (byte) (input[at] + random.nextInt(-35, 36)));
            case 5 -> Arrays.copyOf(input, at);
            case 6 -> Bytes.replace(input, at, end);
            case 7 -> Bytes.replace(input, at, at, Arrays.copyOfRange(input, at, end));
            case 8 -> Bytes.replace(input, at, at, repeated(input, at, random));
            case 9 -> Bytes.replace(input, at, random.nextBoolean() ? at : end, word(random));
            case 10 -> {
                int from = random.nextInt(other.length + 1);
                int to = Math.min(other.length, from + random.nextInt(LONGEST_STRETCH));
                yield Bytes.replace(input, at, end, Arrays.copyOfRange(other, from, to));
            }
            default -> {
                int from = random.nextInt(other.length + 1);
                yield Bytes.replace(
                        input, at, input.length, Arrays.copyOfRange(other, from, other.length));
            }
        };
    }

    private static byte[] repeated(byte[] input, int at, SplittableRandom random) {
        int end = Math.min(input.length, at + 1 + random.nextInt(4));
        return Bytes.concat(
                Collections.nCopies(repeats(random), Arrays.copyOfRange(input, at, end)));
    }

    /** Returns a number that is small more often than not. */
    private static int repeats(SplittableRandom random) {
        return 1 + random.nextInt(1 + random.nextInt(MAX_REPEATS));
    }

    private static byte[] edge(SplittableRandom random, int room) {
        int width = Math.min(room, 1 << random.nextInt(4));
        ByteOrder order = random.nextBoolean() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        return Bytes.integer(number(random, room), width, order);
    }

    /** Returns an integer that programs stumble over, or one near what is left of the input. */
    private static long number(SplittableRandom random, int room) {
        return random.nextInt(4) == 0
                ? room + random.nextInt(-8, 9)
                : EDGES[random.nextInt(EDGES.length)] + random.nextInt(-1, 2);
    }

    private static byte[] number(SplittableRandom random) {
        return Long.toString(number(random, 0)).getBytes(StandardCharsets.US_ASCII);
    }

    private byte[] word(SplittableRandom random) {
        return words.get(random.nextInt(words.size()));
    }

    private static byte[] with(byte[] input, int at, byte... values) {
        byte[] changed = input.clone();
        System.arraycopy(values, 0, changed, at, values.length);
        return changed;
    }
}
