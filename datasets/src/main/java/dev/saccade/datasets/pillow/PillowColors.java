package dev.saccade.datasets.pillow;

import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/** Color operators of 8-bit images like Pillow's {@code ImageOps} and {@code ImageEnhance}. */
final class PillowColors {

    private static final int CHANNELS = PillowImage.CHANNELS;
    private static final int LEVELS = 256;

    private PillowColors() {}

    static PillowImage autoContrast(PillowImage image) {
        int[][] tables = new int[CHANNELS][];
        for (int channel = 0; channel < CHANNELS; channel++) {
            tables[channel] = autoContrastTable(histogram(image, channel));
        }
        return image.map(tables);
    }

    private static int[] autoContrastTable(int[] counts) {
        int low = 0;
        while (low < LEVELS - 1 && counts[low] == 0) {
            low++;
        }
        int high = LEVELS - 1;
        while (high > 0 && counts[high] == 0) {
            high--;
        }
        int[] table = new int[LEVELS];
        double scale = 255.0 / (high - low);
        double offset = -low * scale;
        for (int level = 0; level < LEVELS; level++) {
            table[level] =
                    high <= low
                            ? level
                            : Math.max(0, Math.min(255, (int) (level * scale + offset)));
        }
        return table;
    }

    static PillowImage equalize(PillowImage image) {
        int[][] tables = new int[CHANNELS][];
        for (int channel = 0; channel < CHANNELS; channel++) {
            tables[channel] = equalizeTable(histogram(image, channel));
        }
        return image.map(tables);
    }

    private static int[] equalizeTable(int[] counts) {
        int sum = 0;
        int last = 0;
        int used = 0;
        for (int count : counts) {
            sum += count;
            last = count > 0 ? count : last;
            used += count > 0 ? 1 : 0;
        }
        int step = used <= 1 ? 0 : (sum - last) / 255;
        int[] table = new int[LEVELS];
        int n = step / 2;
        for (int level = 0; level < LEVELS; level++) {
            table[level] = step == 0 ? level : Math.min(255, n / step);
            n += counts[level];
        }
        return table;
    }

    private static int[] histogram(PillowImage image, int channel) {
        int[] counts = new int[LEVELS];
        byte[] pixels = image.pixels();
        for (int i = channel; i < pixels.length; i += CHANNELS) {
            counts[pixels[i] & 0xFF]++;
        }
        return counts;
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
        int[] table = new int[LEVELS];
        Arrays.setAll(table, value);
        return image.map(new int[][] {table, table, table});
    }

    static PillowImage brightness(PillowImage image, double factor) {
        return blend(new PillowImage(image.height(), image.width()), image, factor);
    }

    static PillowImage contrast(PillowImage image, double factor) {
        long sum = 0;
        int[] gray = image.gray();
        for (int value : gray) {
            sum += value;
        }
        int mean = (int) ((double) sum / gray.length + 0.5);
        PillowImage flat = new PillowImage(image.height(), image.width());
        Arrays.fill(flat.pixels(), (byte) mean);
        return blend(flat, image, factor);
    }

    /** Changes the saturation. */
    static PillowImage color(PillowImage image, double factor) {
        int[] gray = image.gray();
        PillowImage flat = new PillowImage(image.height(), image.width());
        for (int i = 0; i < flat.pixels().length; i++) {
            flat.pixels()[i] = (byte) gray[i / CHANNELS];
        }
        return blend(flat, image, factor);
    }

    static PillowImage sharpness(PillowImage image, double factor) {
        return blend(smooth(image), image, factor);
    }

    /** Pillow's filter SMOOTH; border pixels do not change. */
    private static PillowImage smooth(PillowImage image) {
        int stride = image.width() * CHANNELS;
        byte[] in = image.pixels();
        byte[] out = in.clone();
        float side = 1f / 13;
        float center = 5f / 13;
        for (int y = 1; y < image.height() - 1; y++) {
            for (int x = CHANNELS; x < stride - CHANNELS; x++) {
                int at = y * stride + x;
                float sum = 0.5f;
                for (int dy = 1; dy >= -1; dy--) {
                    int row = at + dy * stride;
                    float middle = dy == 0 ? center : side;
                    float line = (in[row - CHANNELS] & 0xFF) * side;
                    line += (in[row] & 0xFF) * middle;
                    line += (in[row + CHANNELS] & 0xFF) * side;
                    sum += line;
                }
                out[at] = (byte) Math.max(0, Math.min(255, (int) sum));
            }
        }
        return new PillowImage(image.height(), image.width(), out);
    }

    /** Returns {@code a + factor * (b - a)}, rounded down and limited to 0 to 255. */
    static PillowImage blend(PillowImage a, PillowImage b, double factor) {
        float alpha = (float) factor;
        byte[] first = a.pixels();
        byte[] second = b.pixels();
        byte[] out = new byte[first.length];
        for (int i = 0; i < out.length; i++) {
            int from = first[i] & 0xFF;
            float value = from + alpha * ((second[i] & 0xFF) - from);
            out[i] = (byte) (value <= 0 ? 0 : value >= 255 ? 255 : (int) value);
        }
        return new PillowImage(a.height(), a.width(), out);
    }
}
