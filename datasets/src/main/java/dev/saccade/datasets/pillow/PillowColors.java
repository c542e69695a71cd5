package dev.saccade.datasets.pillow;

import java.util.function.IntUnaryOperator;

/** Color operators of 8-bit images like Pillow's {@code ImageOps} and {@code ImageEnhance}. */
final class PillowColors {

    private static final int CHANNELS = PillowImage.CHANNELS;
    private static final int LEVELS = 256;

    private PillowColors() {}

    private interface Table {
        /** Returns the new value of each level, given the number of pixels of each level. */
        byte[] of(int[] counts);
    }

    private static PillowImage mapByHistogram(PillowImage image, Table table) {
        int[] blue = new int[LEVELS];
        int[] green = new int[LEVELS];
        int[] red = new int[LEVELS];
        byte[] pixels = image.pixels();
        for (int i = 0; i < pixels.length; i += CHANNELS) {
            blue[pixels[i] & 0xFF]++;
            green[pixels[i + 1] & 0xFF]++;
            red[pixels[i + 2] & 0xFF]++;
        }
        return image.map(table.of(blue), table.of(green), table.of(red));
    }

    static PillowImage autoContrast(PillowImage image) {
        return mapByHistogram(image, PillowColors::autoContrastTable);
    }

    private static byte[] autoContrastTable(int[] counts) {
        int low = 0;
        while (low < LEVELS - 1 && counts[low] == 0) {
            low++;
        }
        int high = LEVELS - 1;
        while (high > 0 && counts[high] == 0) {
            high--;
        }
        boolean flat = high <= low;
        double scale = 255.0 / (high - low);
        double offset = -low * scale;
        return table(
                level -> flat ? level : Math.max(0, Math.min(255, (int) (level * scale + offset))));
    }

    static PillowImage equalize(PillowImage image) {
        return mapByHistogram(image, PillowColors::equalizeTable);
    }

    private static byte[] equalizeTable(int[] counts) {
        int sum = 0;
        int last = 0;
        int used = 0;
        for (int count : counts) {
            sum += count;
            last = count > 0 ? count : last;
            used += count > 0 ? 1 : 0;
        }
        int step = used <= 1 ? 0 : (sum - last) / 255;
        byte[] table = new byte[LEVELS];
        int n = step / 2;
        for (int level = 0; level < LEVELS; level++) {
            table[level] = (byte) (step == 0 ? level : Math.min(255, n / step));
            n += counts[level];
        }
        return table;
    }

    static PillowImage invert(PillowImage image) {
        return solarize(image, 0);
    }

    /** Inverts values of at least {@code threshold}. */
    static PillowImage solarize(PillowImage image, int threshold) {
        return map(image, level -> level < threshold ? level : 255 - level);
    }

    /** Adds to values below 128. */
    static PillowImage solarizeAdd(PillowImage image, int add) {
        return map(image, level -> level < 128 ? Math.min(255, level + add) : level);
    }

    /** Keeps the highest bits of each value; all of them from 8 bits. */
    static PillowImage posterize(PillowImage image, int bits) {
        int mask = bits >= 8 ? 0xFF : 0xFF & ~((1 << (8 - bits)) - 1);
        return map(image, level -> level & mask);
    }

    private static PillowImage map(PillowImage image, IntUnaryOperator value) {
        byte[] table = table(value);
        return image.map(table, table, table);
    }

    private static byte[] table(IntUnaryOperator value) {
        byte[] table = new byte[LEVELS];
        for (int level = 0; level < LEVELS; level++) {
            table[level] = (byte) value.applyAsInt(level);
        }
        return table;
    }

    static PillowImage brightness(PillowImage image, double factor) {
        return blendWith(0, image, factor);
    }

    static PillowImage contrast(PillowImage image, double factor) {
        long sum = 0;
        byte[] gray = image.gray();
        for (byte value : gray) {
            sum += value & 0xFF;
        }
        return blendWith((int) ((double) sum / gray.length + 0.5), image, factor);
    }

    private static PillowImage blendWith(int gray, PillowImage image, double factor) {
        return map(image, level -> blend(gray, level, (float) factor));
    }

    /** Changes the saturation. */
    static PillowImage color(PillowImage image, double factor) {
        byte[] gray = image.gray();
        byte[] in = image.pixels();
        byte[] out = new byte[in.length];
        for (int i = 0; i < gray.length; i++) {
            int from = gray[i] & 0xFF;
            for (int at = CHANNELS * i; at < CHANNELS * i + CHANNELS; at++) {
                out[at] = (byte) blend(from, in[at] & 0xFF, (float) factor);
            }
        }
        return new PillowImage(image.height(), image.width(), out);
    }

    static PillowImage sharpness(PillowImage image, double factor) {
        byte[] in = image.pixels();
        byte[] out = smooth(image);
        for (int i = 0; i < out.length; i++) {
            out[i] = (byte) blend(out[i] & 0xFF, in[i] & 0xFF, (float) factor);
        }
        return new PillowImage(image.height(), image.width(), out);
    }

    /** Pillow's filter SMOOTH; border pixels do not change. */
    private static byte[] smooth(PillowImage image) {
        int stride = image.width() * CHANNELS;
        byte[] in = image.pixels();
        byte[] out = in.clone();
        float[][] outer = new float[3][stride];
        float[] inner = new float[stride];
        for (int y = 0; y < image.height(); y++) {
            // Sums of three pixels with the weights of the row above or below.
            weighted(in, y * stride, 1f / 13, 1f / 13, outer[y % 3]);
            if (y > 1) {
                int row = (y - 1) * stride;
                weighted(in, row, 1f / 13, 5f / 13, inner);
                for (int x = CHANNELS; x < stride - CHANNELS; x++) {
                    float sum = 0.5f + outer[y % 3][x] + inner[x] + outer[(y - 2) % 3][x];
                    out[row + x] = (byte) Math.max(0, Math.min(255, (int) sum));
                }
            }
        }
        return out;
    }

    private static void weighted(byte[] in, int row, float side, float center, float[] sums) {
        for (int x = CHANNELS; x < sums.length - CHANNELS; x++) {
            int at = row + x;
            sums[x] =
                    (in[at - CHANNELS] & 0xFF) * side
                            + (in[at] & 0xFF) * center
                            + (in[at + CHANNELS] & 0xFF) * side;
        }
    }

    /** Returns {@code a + factor * (b - a)}, rounded down and limited to 0 to 255. */
    private static int blend(int a, int b, float factor) {
        float value = a + factor * (b - a);
        return value <= 0 ? 0 : value >= 255 ? 255 : (int) value;
    }
}
