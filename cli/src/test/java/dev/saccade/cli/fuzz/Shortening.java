package dev.saccade.cli.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Leaves out of an input what its failure does without: first pieces, then bytes. */
final class Shortening {

    private static final int MAX_TRIALS = 300;

    private Shortening() {}

    /**
     * Returns the shortest input that a few trials find.
     *
     * @param fails whether an input still fails in the same way
     */
    static byte[] of(byte[] input, Format format, Predicate<byte[]> fails) {
        List<byte[]> pieces = format.cut(input);
        byte[] shorter =
                fails.test(format.join(pieces)) ? withoutPieces(pieces, format, fails) : input;
        List<byte[]> bytes = new ArrayList<>();
        for (byte value : shorter) {
            bytes.add(new byte[] {value});
        }
        return withoutPieces(bytes, Format.BYTES, fails);
    }

    private static byte[] withoutPieces(
            List<byte[]> pieces, Format format, Predicate<byte[]> fails) {
        List<byte[]> fewest = pieces;
        int trials = 0;
        for (int step = pieces.size() / 2; step > 0; step /= 2) {
            for (int at = 0; at < fewest.size() && trials < MAX_TRIALS; trials++) {
                List<byte[]> fewer = new ArrayList<>(fewest);
                fewer.subList(at, Math.min(fewer.size(), at + step)).clear();
                if (fails.test(format.join(fewer))) {
                    fewest = fewer;
                } else {
                    at += step;
                }
            }
        }
        return format.join(fewest);
    }
}
