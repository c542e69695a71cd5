package dev.saccade.core.structures;

import dev.saccade.core.SaccadeException;

/** COCO's compressed RLE strings; see {@link Rle#fromString}. */
final class CompressedRuns {

    /** Maximum number of characters of a run: 7 characters of 5 bits hold 32-bit differences. */
    private static final int MAX_RUN_LENGTH = 7;

    private CompressedRuns() {}

    static String write(int[] counts) {
        StringBuilder string = new StringBuilder(2 * counts.length);
        for (int i = 0; i < counts.length; i++) {
            int value = i > 2 ? counts[i] - counts[i - 2] : counts[i];
            boolean more = true;
            while (more) {
                int group = value & 31;
                value >>= 5;
                more = value != ((group & 16) != 0 ? -1 : 0);
                string.append((char) ('0' + (more ? group | 32 : group)));
            }
        }
        return string.toString();
    }

    static Rle read(Size size, String string) {
        RunBuilder runs = new RunBuilder(size);
        long beforeLast = 0;
        long last = 0;
        int position = 0;
        for (int run = 0; position < string.length(); run++) {
            int start = position;
            long value = 0;
            int bits = 0;
            boolean more = true;
            while (more) {
                int group = group(string, position, start, run);
                value |= (group & 31L) << bits;
                bits += 5;
                more = (group & 32) != 0;
                if (!more && (group & 16) != 0) {
                    value |= -1L << bits;
                }
                position++;
            }
            if (run > 2) {
                value += beforeLast;
            }
            runs.addChecked(value, run);
            beforeLast = last;
            last = value;
        }
        return runs.build();
    }

    private static int group(String string, int position, int start, int run) {
        if (position == string.length()) {
            throw SaccadeException.user(
                    "RLE string: run %d is incomplete at character %d", run, position);
        }
        int group = string.charAt(position) - '0';
        if (group < 0 || group > 63 || position - start == MAX_RUN_LENGTH) {
            throw SaccadeException.user(
                    "RLE string: invalid character %d (code %d) in run %d",
                    position, (int) string.charAt(position), run);
        }
        return group;
    }
}
