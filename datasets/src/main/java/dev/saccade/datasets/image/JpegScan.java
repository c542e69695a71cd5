package dev.saccade.datasets.image;

import dev.saccade.datasets.image.JpegFrame.Component;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Decodes the entropy-coded blocks of a JPEG scan to find where they end, as {@code jdhuff.c} and
 * {@code jdphuff.c} of libjpeg do; coefficients are not computed.
 */
final class JpegScan {

    /** Thrown where bits are not the code of any symbol. */
    static final class BadCode extends RuntimeException {

        private static final long serialVersionUID = 1L;

        BadCode() {
            super("a code of its blocks is unknown", null, false, false);
        }
    }

    private static final int COEFFICIENTS = 64;

    /**
     * A component of the scan.
     *
     * @param index of the component in the frame
     * @param nonzero coefficients of each block that are not zero, one bit each; empty if
     *     sequential
     */
    @SuppressWarnings("ArrayRecordComponent")
    private record Part(
            Component component, int index, HuffmanCodes dc, HuffmanCodes ac, long[] nonzero) {}

    private final List<Part> parts = new ArrayList<>();
    private final boolean progressive;
    private final int first;
    private final int last;
    private final int high;
    private final int low;
    private int endOfBandRun;

    /**
     * Reads the header of a scan.
     *
     * @throws RuntimeException if it names unknown components or tables
     */
    JpegScan(ByteBuffer header, JpegBlocks image) {
        int count = header.get(0);
        progressive = image.isProgressive();
        first = header.get(1 + 2 * count);
        last = header.get(2 + 2 * count);
        high = header.get(3 + 2 * count) >> 4 & 15;
        low = header.get(3 + 2 * count) & 15;
        for (int i = 0; i < count; i++) {
            int index = image.indexOf(header.get(1 + 2 * i));
            int tables = header.get(2 + 2 * i);
            parts.add(
                    new Part(
                            image.frame().components().get(index),
                            index,
                            image.dc(tables >> 4 & 15, !progressive || (first == 0 && high == 0)),
                            image.ac(tables & 15, !progressive || first > 0),
                            image.nonzero(index)));
        }
    }

    /**
     * Records the lowest known bit of the coefficients.
     *
     * @throws BadCode if the scan does not continue from the scans before it
     */
    void refine(int[][] precision) {
        for (Part part : parts) {
            int[] known = precision[part.index];
            for (int i = first; i <= last && i < COEFFICIENTS; i++) {
                if (progressive && (high != Math.max(0, known[i]) || (i > 0 && known[0] < 0))) {
                    throw new BadCode();
                }
                known[i] = low;
            }
        }
    }

    /** Returns the number of MCUs. */
    long mcus(JpegFrame frame) {
        return parts.size() == 1 ? parts.get(0).component.blocks().area() : frame.mcus().area();
    }

    /** Starts a restart interval. */
    void restart() {
        endOfBandRun = 0;
    }

    /** Decodes an MCU. */
    void decode(JpegBits bits, long mcu, JpegFrame frame) {
        if (parts.size() == 1) {
            Part part = parts.get(0);
            int width = part.component.blocks().width();
            block(bits, part, mcu / width, mcu % width, frame);
            return;
        }
        long row = mcu / frame.mcus().width();
        long column = mcu % frame.mcus().width();
        for (Part part : parts) {
            int across = part.component.across();
            int down = part.component.down();
            for (int i = 0; i < across * down; i++) {
                block(bits, part, row * down + i / across, column * across + i % across, frame);
            }
        }
    }

    private void block(JpegBits bits, Part part, long row, long column, JpegFrame frame) {
        if (!progressive) {
            symbolWithValue(bits, part.dc);
            sequential(bits, part.ac);
        } else if (first == 0) {
            if (high == 0) {
                symbolWithValue(bits, part.dc);
            } else {
                bits.skip(1);
            }
        } else {
            int stride = frame.mcus().width() * part.component.across();
            int block = Math.toIntExact(row * stride + column);
            if (high == 0) {
                firstPass(bits, part, block);
            } else {
                refinement(bits, part, block);
            }
        }
    }

    private static int symbol(JpegBits bits, HuffmanCodes codes) {
        int symbol = codes.next(bits);
        if (symbol < 0) {
            throw new BadCode();
        }
        return symbol;
    }

    private static int symbolWithValue(JpegBits bits, HuffmanCodes codes) {
        int symbol = codes.nextWithValue(bits);
        if (symbol < 0) {
            throw new BadCode();
        }
        return symbol;
    }

    private static void sequential(JpegBits bits, HuffmanCodes codes) {
        for (int i = 1; i < COEFFICIENTS; i++) {
            int symbol = symbolWithValue(bits, codes);
            i += symbol >> 4;
            if ((symbol & 15) == 0 && symbol >> 4 < 15) {
                return;
            }
        }
    }

    private void firstPass(JpegBits bits, Part part, int block) {
        if (endOfBandRun > 0) {
            endOfBandRun--;
            return;
        }
        for (int i = first; i <= last; i++) {
            int symbol = symbolWithValue(bits, part.ac);
            int run = symbol >> 4;
            i += run;
            if ((symbol & 15) > 0) {
                part.nonzero[block] |= 1L << i;
            } else if (run < 15) {
                endOfBandRun = (1 << run) + bits.read(run) - 1;
                return;
            }
        }
    }

    private void refinement(JpegBits bits, Part part, int block) {
        int at = first;
        while (at <= last && endOfBandRun == 0) {
            int symbol = symbol(bits, part.ac);
            int run = symbol >> 4;
            boolean isNew = (symbol & 15) > 0;
            if (isNew) {
                bits.skip(1);
            } else if (run < 15) {
                endOfBandRun = (1 << run) + bits.read(run);
                break;
            }
            at = correct(bits, part.nonzero[block], at, run);
            if (isNew && at <= last) {
                part.nonzero[block] |= 1L << at;
            }
            at++;
        }
        if (endOfBandRun > 0) {
            correct(bits, part.nonzero[block], at, COEFFICIENTS);
            endOfBandRun--;
        }
    }

    /** Skips a bit per nonzero coefficient; stops at a zero behind a run of them. */
    private int correct(JpegBits bits, long nonzero, int from, int run) {
        int zeros = run;
        for (int at = from; at <= last; at++) {
            if ((nonzero >>> at & 1) != 0) {
                bits.skip(1);
            } else if (--zeros < 0) {
                return at;
            }
        }
        return last + 1;
    }
}
