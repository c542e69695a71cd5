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
        boolean bilinear = interpolation == Interpolation.BILINEAR;
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
                } else if (bilinear) {
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
        byte[] in = image.pixels();
        int left = column(x, image);
        int right = column(x + 1, image);
        int top = row(y, image);
        int bottom = row(y + 1, image);
        for (int channel = 0; channel < CHANNELS; channel++) {
            double above = mix(in, top + left + channel, top + right + channel, dx);
            double below = mix(in, bottom + left + channel, bottom + right + channel, dx);
            out[at + channel] = (byte) (int) (above + (below - above) * dy);
        }
    }

    private static double mix(byte[] in, int a, int b, double fraction) {
        int first = in[a] & 0xFF;
        return first + ((in[b] & 0xFF) - first) * fraction;
    }

    /** Interpolates only along axes with a fraction; the other results are equal. */
    private static void bicubic(PillowImage image, double xin, double yin, byte[] out, int at) {
        int x = (int) Math.floor(xin);
        int y = (int) Math.floor(yin);
        double dx = xin - x;
        double dy = yin - y;
        byte[] in = image.pixels();
        int middle = row(y, image);
        if (dy == 0) {
            for (int channel = 0; channel < CHANNELS; channel++) {
                out[at + channel] = limited(cubicRow(in, middle + channel, x, image, dx));
            }
            return;
        }
        int above = row(y - 1, image);
        int below = row(y + 1, image);
        int last = row(y + 2, image);
        for (int channel = 0; channel < CHANNELS; channel++) {
            double v1 = cubicRow(in, above + channel, x, image, dx);
            double v2 = cubicRow(in, middle + channel, x, image, dx);
            double v3 = cubicRow(in, below + channel, x, image, dx);
            double v4 = cubicRow(in, last + channel, x, image, dx);
            double p2 = -v1 + v3;
            double p3 = 2 * (v1 - v2) + v3 - v4;
            double p4 = -v1 + v2 - v3 + v4;
            out[at + channel] = limited(v2 + dy * (p2 + dy * (p3 + dy * p4)));
        }
    }

    private static double cubicRow(byte[] in, int row, int x, PillowImage image, double d) {
        int v2 = in[row + column(x, image)] & 0xFF;
        if (d == 0) {
            return v2;
        }
        int v1 = in[row + column(x - 1, image)] & 0xFF;
        int v3 = in[row + column(x + 1, image)] & 0xFF;
        int v4 = in[row + column(x + 2, image)] & 0xFF;
        // Differences of pixels are exact as integers.
        int p2 = v3 - v1;
        int p3 = 2 * (v1 - v2) + v3 - v4;
        int p4 = v2 - v1 - v3 + v4;
        return v2 + d * (p2 + d * (p3 + d * p4));
    }

    private static byte limited(double value) {
        return (byte) (value <= 0 ? 0 : value >= 255 ? 255 : (int) value);
    }

    private static int column(int x, PillowImage image) {
        return clamp(x, image.width()) * CHANNELS;
    }

    private static int row(int y, PillowImage image) {
        return clamp(y, image.height()) * image.width() * CHANNELS;
    }

    private static int clamp(int value, int size) {
        return Math.max(0, Math.min(size - 1, value));
    }
}
