package dev.saccade.datasets.pillow;

import org.opencv.core.CvType;
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

    /** Resizes bytes {@code [H, W, 3]}, or float32 of any channels; the caller frees the result. */
    static Mat resize(Mat image, int height, int width, Interpolation interpolation) {
        return image.depth() == CvType.CV_32F
                ? FloatResize.resize(image, height, width, interpolation)
                : resize(PillowImage.of(image), height, width, interpolation).toMat();
    }

    private static PillowImage resize(
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
        PillowImage result = new PillowImage(filter.size(), image.width());
        int[][] recent = new int[filter.taps()][stride];
        int[] sums = new int[stride];
        int unpacked = 0;
        for (int y = 0; y < filter.size(); y++) {
            int[] weights = fixedPoint(filter.weights(y));
            int first = filter.first(y);
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

    private static int[] fixedPoint(double[] weights) {
        int[] fixed = new int[weights.length];
        for (int i = 0; i < fixed.length; i++) {
            double scaled = weights[i] * (1 << PRECISION_BITS);
            fixed[i] = (int) (weights[i] < 0 ? scaled - 0.5 : scaled + 0.5);
        }
        return fixed;
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
