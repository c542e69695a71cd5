package dev.saccade.datasets.pillow;

import java.util.List;

/** Affine transforms of 8-bit images like Pillow's {@code Image.transform} (its Geometry.c). */
final class PillowAffine {

    private static final int CHANNELS = PillowImage.CHANNELS;

    private PillowAffine() {}

    /**
     * Transforms an image to the same size. Output pixel {@code (x, y)} is input pixel {@code (a x
     * + b y + c, d x + e y + f)}, in coordinates of pixel centers.
     *
     * @param matrix a, b, c, d, e, f
     * @param fill RGB color outside of the image
     */
    static PillowImage transform(
            PillowImage image, double[] matrix, Interpolation interpolation, List<Integer> fill) {
        int height = image.height();
        int width = image.width();
        PillowImage result = new PillowImage(height, width);
        byte[] out = result.pixels();
        int at = 0;
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++, at += CHANNELS) {
                double xin = matrix[0] * (x + 0.5) + matrix[1] * (y + 0.5) + matrix[2];
                double yin = matrix[3] * (x + 0.5) + matrix[4] * (y + 0.5) + matrix[5];
                if (xin < 0 || xin >= width || yin < 0 || yin >= height) {
                    for (int channel = 0; channel < CHANNELS; channel++) {
                        out[at + channel] = fill.get(CHANNELS - 1 - channel).byteValue();
                    }
                } else if (interpolation == Interpolation.BILINEAR) {
                    bilinear(image, xin - 0.5, yin - 0.5, out, at);
                } else {
                    bicubic(image, xin - 0.5, yin - 0.5, out, at);
                }
            }
        }
        return result;
    }

    private static void bilinear(PillowImage image, double xin, double yin, byte[] out, int at) {
        int x = (int) Math.floor(xin);
        int y = (int) Math.floor(yin);
        double dx = xin - x;
        double dy = yin - y;
        int left = clamp(x, image.width());
        int right = clamp(x + 1, image.width());
        int top = clamp(y, image.height());
        boolean hasBelow = y + 1 >= 0 && y + 1 < image.height();
        for (int channel = 0; channel < CHANNELS; channel++) {
            double above = mix(image.get(top, left, channel), image.get(top, right, channel), dx);
            double below =
                    hasBelow
                            ? mix(
                                    image.get(y + 1, left, channel),
                                    image.get(y + 1, right, channel),
                                    dx)
                            : above;
            out[at + channel] = (byte) (int) mix(above, below, dy);
        }
    }

    private static double mix(double a, double b, double fraction) {
        return a + (b - a) * fraction;
    }

    private static void bicubic(PillowImage image, double xin, double yin, byte[] out, int at) {
        int x = (int) Math.floor(xin);
        int y = (int) Math.floor(yin);
        double dx = xin - x;
        double dy = yin - y;
        for (int channel = 0; channel < CHANNELS; channel++) {
            double[] rows = new double[4];
            rows[0] = cubicRow(image, clamp(y - 1, image.height()), x - 1, channel, dx);
            for (int i = 1; i < 4; i++) {
                int row = y - 1 + i;
                rows[i] =
                        row >= 0 && row < image.height()
                                ? cubicRow(image, row, x - 1, channel, dx)
                                : rows[i - 1];
            }
            double value = cubic(rows[0], rows[1], rows[2], rows[3], dy);
            out[at + channel] = (byte) (value <= 0 ? 0 : value >= 255 ? 255 : (int) value);
        }
    }

    private static double cubicRow(PillowImage image, int y, int x, int channel, double fraction) {
        int last = image.width();
        return cubic(
                image.get(y, clamp(x, last), channel),
                image.get(y, clamp(x + 1, last), channel),
                image.get(y, clamp(x + 2, last), channel),
                image.get(y, clamp(x + 3, last), channel),
                fraction);
    }

    private static double cubic(double v1, double v2, double v3, double v4, double d) {
        double p1 = v2;
        double p2 = -v1 + v3;
        double p3 = 2 * (v1 - v2) + v3 - v4;
        double p4 = -v1 + v2 - v3 + v4;
        return p1 + d * (p2 + d * (p3 + d * p4));
    }

    private static int clamp(int value, int size) {
        return Math.max(0, Math.min(size - 1, value));
    }
}
