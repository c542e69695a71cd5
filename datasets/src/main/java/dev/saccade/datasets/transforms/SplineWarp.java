package dev.saccade.datasets.transforms;

import dev.saccade.core.structures.Size;

/**
 * Rotates, scales and moves a crop of an image, like SciPy's {@code ndimage.affine_transform} in
 * InstaBoost: cubic splines for pixels and nearest neighbor for masks.
 */
final class SplineWarp {

    private static final double POLE = Math.sqrt(3) - 2;

    /** Distance from the crop, in its pixels, at which splines have decayed below 1e-6. */
    private static final int MARGIN = 16;

    private final Size crop;
    private final Size image;
    private final double cos;
    private final double sin;
    private final double offsetX;
    private final double offsetY;
    private final int left;
    private final int top;
    private final int right;
    private final int bottom;

    /** Creates a warp that moves the crop's center to a target; {@code theta} is in radians. */
    SplineWarp(Size crop, Size image, double scale, double theta, double centerX, double centerY) {
        this.crop = crop;
        this.image = image;
        double cosine = Math.cos(theta);
        double sine = Math.sin(theta);
        cos = 1 / scale * cosine;
        sin = 1 / scale * sine;
        offsetX = -centerX / scale * cosine - centerY / scale * sine + crop.width() / 2.0;
        offsetY = centerX / scale * sine - centerY / scale * cosine + crop.height() / 2.0;
        double halfWidth = crop.width() / 2.0 + MARGIN;
        double halfHeight = crop.height() / 2.0 + MARGIN;
        double reachX = scale * (halfWidth * Math.abs(cosine) + halfHeight * Math.abs(sine));
        double reachY = scale * (halfWidth * Math.abs(sine) + halfHeight * Math.abs(cosine));
        left = (int) Math.max(0, Math.floor(centerX - reachX));
        top = (int) Math.max(0, Math.floor(centerY - reachY));
        right = (int) Math.min(image.width(), Math.ceil(centerX + reachX) + 1);
        bottom = (int) Math.min(image.height(), Math.ceil(centerY + reachY) + 1);
    }

    private double sourceX(int x, int y) {
        return offsetX + x * cos + y * sin;
    }

    private double sourceY(int x, int y) {
        return offsetY - x * sin + y * cos;
    }

    /** Warps a bitmap of the crop to a bitmap of the image, {@code [H, W]}. */
    byte[] mask(byte[] mask) {
        byte[] moved = new byte[Math.toIntExact(image.area())];
        for (int y = top; y < bottom; y++) {
            for (int x = left; x < right; x++) {
                double sourceX = sourceX(x, y);
                double sourceY = sourceY(x, y);
                int column = (int) Math.floor(sourceX + 0.5);
                int row = (int) Math.floor(sourceY + 0.5);
                if (isWithin(sourceX, sourceY, image)
                        && column < crop.width()
                        && row < crop.height()) {
                    moved[y * image.width() + x] = mask[row * crop.width() + column];
                }
            }
        }
        return moved;
    }

    /**
     * Blends a crop into an image.
     *
     * @param pixels {@code [H, W, 3]} of the image, changed in place
     * @param colors {@code [h, w, 3]} of the crop
     * @param mask bitmap {@code [h, w]} of the blended pixels of the crop
     */
    void blend(byte[] pixels, byte[] colors, byte[] mask) {
        Size field =
                new Size(
                        Math.min(image.height(), crop.height() + MARGIN),
                        Math.min(image.width(), crop.width() + MARGIN));
        double[][] planes = new double[4][];
        for (int channel = 0; channel < 3; channel++) {
            planes[channel] = coefficients(field, colors, 3, channel, 1);
        }
        planes[3] = coefficients(field, mask, 1, 0, 255);
        Taps taps = new Taps(field);
        for (int y = top; y < bottom; y++) {
            for (int x = left; x < right; x++) {
                double sourceX = sourceX(x, y);
                double sourceY = sourceY(x, y);
                if (!isWithin(sourceX, sourceY, field)) {
                    continue;
                }
                taps.moveTo(sourceX, sourceY);
                int alpha = taps.sample(planes[3]);
                double opacity = alpha / 255.0;
                for (int channel = 0; channel < 3 && alpha > 0; channel++) {
                    int at = 3 * (y * image.width() + x) + channel;
                    double background = (pixels[at] & 0xff) * (1 - opacity);
                    double color = taps.sample(planes[channel]) * opacity;
                    pixels[at] = (byte) (int) (background + color);
                }
            }
        }
    }

    private static boolean isWithin(double x, double y, Size size) {
        return x >= 0 && x <= size.width() - 1 && y >= 0 && y <= size.height() - 1;
    }

    private double[] coefficients(Size field, byte[] crop, int channels, int channel, int factor) {
        int width = field.width();
        double[] plane = new double[Math.toIntExact(field.area())];
        for (int y = 0; y < this.crop.height(); y++) {
            for (int x = 0; x < this.crop.width(); x++) {
                int at = channels * (y * this.crop.width() + x) + channel;
                plane[y * width + x] = factor * (crop[at] & 0xff);
            }
        }
        for (int x = 0; x < width; x++) {
            filter(plane, x, width, field.height());
        }
        for (int y = 0; y < field.height(); y++) {
            filter(plane, y * width, 1, width);
        }
        return plane;
    }

    /** Replaces the values of a line by cubic spline coefficients, with reflected borders. */
    private static void filter(double[] values, int start, int step, int count) {
        if (count == 1) {
            return;
        }
        int last = start + (count - 1) * step;
        double farPower = Math.pow(POLE, count - 1);
        double sum = values[start] + farPower * values[last];
        double power = POLE;
        for (int i = 1; i < count - 1; i++) {
            sum += power * (values[start + i * step] + farPower * values[last - i * step]);
            power *= POLE;
        }
        double gain = (1 - POLE) * (1 - 1 / POLE);
        values[start] = gain * sum / (1 - farPower * farPower);
        for (int i = start + step; i != last + step; i += step) {
            values[i] = gain * values[i] + POLE * values[i - step];
        }
        values[last] = (POLE * values[last - step] + values[last]) * POLE / (POLE * POLE - 1);
        for (int i = last - step; i != start - step; i -= step) {
            values[i] = POLE * (values[i + step] - values[i]);
        }
    }

    private static final class Taps {

        private final Size field;
        private final int[] columns = new int[4];
        private final int[] rows = new int[4];
        private final double[] columnWeights = new double[4];
        private final double[] rowWeights = new double[4];

        Taps(Size field) {
            this.field = field;
        }

        void moveTo(double x, double y) {
            place(x, field.width(), columns, columnWeights);
            place(y, field.height(), rows, rowWeights);
        }

        private static void place(double at, int count, int[] taps, double[] weights) {
            int first = (int) Math.floor(at);
            double y = at - first;
            double z = 1 - y;
            weights[0] = z * z * z / 6;
            weights[1] = (y * y * (y - 2) * 3 + 4) / 6;
            weights[2] = (z * z * (z - 2) * 3 + 4) / 6;
            weights[3] = 1 - weights[0] - weights[1] - weights[2];
            for (int i = 0; i < 4; i++) {
                taps[i] = mirrored(first - 1 + i, count);
            }
        }

        private static int mirrored(int at, int count) {
            int inside = count == 1 ? 0 : Math.floorMod(at, 2 * (count - 1));
            return Math.min(inside, Math.abs(2 * (count - 1) - inside));
        }

        int sample(double[] plane) {
            double sum = 0;
            for (int i = 0; i < 4; i++) {
                double row = 0;
                for (int j = 0; j < 4; j++) {
                    row += columnWeights[j] * plane[rows[i] * field.width() + columns[j]];
                }
                sum += rowWeights[i] * row;
            }
            return (int) Math.min(Math.max(sum + 0.5, 0), 255);
        }
    }
}
