package dev.saccade.datasets.pillow;

import org.opencv.core.Mat;

import java.util.Arrays;

/**
 * Resizes 8-bit images with the antialiasing filters of Pillow 13 (its {@code Resample.c}), with
 * weights in fixed point, rounded after each pass.
 *
 * <p>The first pass is vertical if the height shrinks by more than twice as many pixels as the
 * width, and horizontal otherwise. Pillow before version 13 always starts horizontally; values then
 * differ by rounding.
 */
final class PillowResize {

    private static final int PRECISION_BITS = 32 - 8 - 2;
    private static final int HALF = 1 << (PRECISION_BITS - 1);
    private static final int CHANNELS = PillowImage.CHANNELS;

    private PillowResize() {}

    /** The first input position of each output position, and the weights of the inputs. */
    private static final class Filter {

        private final int[] first;
        private final int[][] weights;

        Filter(int[] first, int[][] weights) {
            this.first = first;
            this.weights = weights;
        }

        /** Creates a filter of {@code in} positions whose range from start to end is resized. */
        static Filter of(int in, float start, float end, int out, Interpolation interpolation) {
            double scale = (double) (end - start) / out;
            double filterScale = Math.max(1, scale);
            double support = interpolation.support() * filterScale;
            int[] first = new int[out];
            int[][] weights = new int[out][];
            for (int position = 0; position < out; position++) {
                double center = start + (position + 0.5) * scale;
                int least = Math.max(0, (int) (center - support + 0.5));
                int most = Math.min(in, (int) (center + support + 0.5));
                double[] values = new double[most - least];
                double sum = 0;
                for (int i = 0; i < values.length; i++) {
                    double distance = (i + least - center + 0.5) * (1 / filterScale);
                    values[i] = interpolation.weight(distance);
                    sum += values[i];
                }
                first[position] = least;
                weights[position] = fixedPoint(values, sum);
            }
            return new Filter(first, weights);
        }

        int start() {
            return first[0];
        }

        int end() {
            return first[first.length - 1] + weights[weights.length - 1].length;
        }

        /** Returns this filter for an input without the positions before {@link #start}. */
        Filter fromStart() {
            return new Filter(
                    Arrays.stream(first).map(position -> position - start()).toArray(), weights);
        }

        int taps() {
            return Arrays.stream(weights).mapToInt(values -> values.length).max().orElse(0);
        }

        private static int[] fixedPoint(double[] values, double sum) {
            int[] fixed = new int[values.length];
            for (int i = 0; i < values.length; i++) {
                double weight = sum == 0 ? values[i] : values[i] / sum;
                fixed[i] =
                        weight < 0
                                ? (int) (-0.5 + weight * (1 << PRECISION_BITS))
                                : (int) (0.5 + weight * (1 << PRECISION_BITS));
            }
            return fixed;
        }
    }

    static PillowImage resize(
            PillowImage image, int height, int width, Interpolation interpolation) {
        return startsVertically(image.height(), image.width(), height, width)
                ? toWidth(toHeight(image, height, interpolation), width, interpolation)
                : toHeight(toWidth(image, width, interpolation), height, interpolation);
    }

    private static boolean startsVertically(int oldHeight, int oldWidth, int height, int width) {
        int shrinkX = oldWidth - width;
        int shrinkY = oldHeight - height;
        return shrinkY > 0 && shrinkY > 2 * shrinkX;
    }

    private static PillowImage toWidth(PillowImage image, int width, Interpolation interpolation) {
        return width == image.width()
                ? image
                : horizontal(
                        image, Filter.of(image.width(), 0, image.width(), width, interpolation));
    }

    private static PillowImage toHeight(
            PillowImage image, int height, Interpolation interpolation) {
        return height == image.height()
                ? image
                : vertical(
                        image, Filter.of(image.height(), 0, image.height(), height, interpolation));
    }

    /**
     * Resizes a part of an image, like Pillow's {@code resize} with {@code box}; pixels outside of
     * the part affect its border.
     *
     * @param box left, top, right and bottom
     */
    static PillowImage resize(
            Mat image, float[] box, int height, int width, Interpolation interpolation) {
        Filter across = Filter.of(image.cols(), box[0], box[2], width, interpolation);
        Filter down = Filter.of(image.rows(), box[1], box[3], height, interpolation);
        PillowImage part =
                PillowImage.crop(
                        image,
                        down.start(),
                        across.start(),
                        down.end() - down.start(),
                        across.end() - across.start());
        return startsVertically(image.rows(), image.cols(), height, width)
                ? horizontal(vertical(part, down.fromStart()), across.fromStart())
                : vertical(horizontal(part, across.fromStart()), down.fromStart());
    }

    private static PillowImage horizontal(PillowImage image, Filter filter) {
        // Sums over whole rows are vectorized, so columns become rows.
        return vertical(image.transpose(), filter).transpose();
    }

    private static PillowImage vertical(PillowImage image, Filter filter) {
        int stride = image.width() * CHANNELS;
        PillowImage result = new PillowImage(filter.first.length, image.width());
        int[][] recent = new int[filter.taps()][stride];
        int[] sums = new int[stride];
        int unpacked = 0;
        for (int y = 0; y < filter.first.length; y++) {
            int[] weights = filter.weights[y];
            int first = filter.first[y];
            for (; unpacked < first + weights.length; unpacked++) {
                unpack(image.pixels(), unpacked * stride, recent[unpacked % recent.length]);
            }
            Arrays.fill(sums, HALF);
            for (int i = 0; i < weights.length; i += 2) {
                int next = Math.min(i + 1, weights.length - 1);
                add(
                        sums,
                        recent[(first + i) % recent.length],
                        weights[i],
                        recent[(first + next) % recent.length],
                        next > i ? weights[next] : 0);
            }
            pack(sums, result.pixels(), y * stride);
        }
        return result;
    }

    private static void unpack(byte[] pixels, int start, int[] row) {
        for (int x = 0; x < row.length; x++) {
            row[x] = pixels[start + x] & 0xFF;
        }
    }

    private static void add(int[] sums, int[] a, int weightA, int[] b, int weightB) {
        for (int x = 0; x < sums.length; x++) {
            sums[x] += a[x] * weightA + b[x] * weightB;
        }
    }

    private static void pack(int[] sums, byte[] pixels, int start) {
        for (int x = 0; x < sums.length; x++) {
            pixels[start + x] = clip(sums[x]);
        }
    }

    private static byte clip(int sum) {
        return (byte) Math.max(0, Math.min(255, sum >> PRECISION_BITS));
    }
}
