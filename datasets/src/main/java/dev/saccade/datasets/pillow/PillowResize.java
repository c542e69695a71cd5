package dev.saccade.datasets.pillow;

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

        static Filter of(int in, int out, Interpolation interpolation) {
            double scale = (double) in / out;
            double filterScale = Math.max(1, scale);
            double support = interpolation.support() * filterScale;
            int[] first = new int[out];
            int[][] weights = new int[out][];
            for (int position = 0; position < out; position++) {
                double center = (position + 0.5) * scale;
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
        int shrinkX = image.width() - width;
        int shrinkY = image.height() - height;
        return shrinkY > 0 && shrinkY > 2 * shrinkX
                ? toWidth(toHeight(image, height, interpolation), width, interpolation)
                : toHeight(toWidth(image, width, interpolation), height, interpolation);
    }

    private static PillowImage toWidth(PillowImage image, int width, Interpolation interpolation) {
        return width == image.width()
                ? image
                : horizontal(image, Filter.of(image.width(), width, interpolation));
    }

    private static PillowImage toHeight(
            PillowImage image, int height, Interpolation interpolation) {
        return height == image.height()
                ? image
                : vertical(image, Filter.of(image.height(), height, interpolation));
    }

    private static PillowImage horizontal(PillowImage image, Filter filter) {
        PillowImage result = new PillowImage(image.height(), filter.first.length);
        byte[] in = image.pixels();
        byte[] out = result.pixels();
        int at = 0;
        for (int y = 0; y < image.height(); y++) {
            int row = y * image.width() * CHANNELS;
            for (int x = 0; x < filter.first.length; x++) {
                int[] weights = filter.weights[x];
                int start = row + filter.first[x] * CHANNELS;
                int blue = HALF;
                int green = HALF;
                int red = HALF;
                for (int weight : weights) {
                    blue += (in[start] & 0xFF) * weight;
                    green += (in[start + 1] & 0xFF) * weight;
                    red += (in[start + 2] & 0xFF) * weight;
                    start += CHANNELS;
                }
                out[at] = clip(blue);
                out[at + 1] = clip(green);
                out[at + 2] = clip(red);
                at += CHANNELS;
            }
        }
        return result;
    }

    private static PillowImage vertical(PillowImage image, Filter filter) {
        int stride = image.width() * CHANNELS;
        PillowImage result = new PillowImage(filter.first.length, image.width());
        byte[] in = image.pixels();
        byte[] out = result.pixels();
        int[] sums = new int[stride];
        for (int y = 0; y < filter.first.length; y++) {
            Arrays.fill(sums, HALF);
            for (int i = 0; i < filter.weights[y].length; i++) {
                int weight = filter.weights[y][i];
                int start = (filter.first[y] + i) * stride;
                for (int x = 0; x < stride; x++) {
                    sums[x] += (in[start + x] & 0xFF) * weight;
                }
            }
            for (int x = 0; x < stride; x++) {
                out[y * stride + x] = clip(sums[x]);
            }
        }
        return result;
    }

    private static byte clip(int sum) {
        return (byte) Math.max(0, Math.min(255, sum >> PRECISION_BITS));
    }
}
