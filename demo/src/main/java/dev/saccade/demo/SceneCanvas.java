package dev.saccade.demo;

import static dev.saccade.demo.Shapes.between;

import dev.saccade.core.structures.Size;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.imgproc.Imgproc;

import java.util.SplittableRandom;

/** The image during rendering: linear light, {@code [H, W, 3]}. */
final class SceneCanvas {

    private final Size size;
    private final Light light;
    private final float[] rgb;

    SceneCanvas(Size size, Surface.Texture table, Light light, double squash) {
        this.size = size;
        this.light = light;
        this.rgb = new float[Math.toIntExact(3 * size.area())];
        int columns = size.width() + 1;
        double pixel = 1.0 / Math.min(size.height(), size.width());
        Surface[] above = new Surface[columns];
        Surface[] row = new Surface[columns];
        for (int y = -1; y < size.height(); y++) {
            for (int x = 0; x < columns; x++) {
                row[x] = table.at(x * pixel, y * pixel / squash);
            }
            for (int x = 1; x < columns && y >= 0; x++) {
                double slopeX = (row[x].height() - row[x - 1].height()) / pixel;
                double slopeY = (row[x].height() - above[x].height()) / pixel;
                light.reflect(row[x], slopeX, slopeY).addTo(rgb, y * size.width() + x - 1);
            }
            Surface[] next = above;
            above = row;
            row = next;
        }
    }

    void add(Cutout cutout) {
        darken(castShadow(cutout), 0.6 + 0.3 * cutout.lift(), 0.85);
        float[] contact = new float[Math.toIntExact(size.area())];
        stamp(contact, cutout, 0, 0);
        darken(contact, 0.8 + 0.5 * cutout.lift(), 0.55);
        float[] paint = cutout.paint(light);
        cutout.forEachPixel(0, 0, size, (from, to) -> blend(cutout.cover[from], paint, from, to));
    }

    private void blend(float cover, float[] paint, int from, int to) {
        for (int c = 0; c < 3; c++) {
            rgb[3 * to + c] += cover * (paint[3 * from + c] - rgb[3 * to + c]);
        }
    }

    /** Returns the darkness of the shadow at each pixel, 0 to 1, without blur. */
    private float[] castShadow(Cutout cutout) {
        float[] shadow = new float[Math.toIntExact(size.area())];
        int steps = 1 + (int) Math.ceil(cutout.lift());
        for (int step = 1; step <= steps; step++) {
            double lift = cutout.lift() * step / steps;
            int shiftX = (int) Math.rint(-light.to().x() / light.to().z() * lift);
            stamp(shadow, cutout, shiftX, (int) Math.rint(-light.to().y() / light.to().z() * lift));
        }
        return shadow;
    }

    private void stamp(float[] shadow, Cutout cutout, int shiftX, int shiftY) {
        Cutout.PixelVisitor stamp =
                (from, to) -> shadow[to] = Math.max(shadow[to], cutout.cover[from]);
        cutout.forEachPixel(shiftX, shiftY, size, stamp);
    }

    private void darken(float[] shadow, double softness, double strength) {
        blur(shadow, softness);
        Vec lost = light.lost().times(strength);
        for (int i = 0; i < shadow.length; i++) {
            rgb[3 * i] *= (float) (1 - lost.x() * shadow[i]);
            rgb[3 * i + 1] *= (float) (1 - lost.y() * shadow[i]);
            rgb[3 * i + 2] *= (float) (1 - lost.z() * shadow[i]);
        }
    }

    /** Writes the image of a simulated simple camera, {@code [H, W, 3]} BGR. */
    void develop(SplittableRandom random, byte[] bgr) {
        double gradientX = between(random, -0.3, 0.3);
        double gradientY = between(random, -0.3, 0.3);
        double dapples = random.nextInt(4) == 0 ? between(random, 0.25, 0.5) : 0;
        Noise foliage = new Noise(random);
        double vignette = between(random, 0.1, 0.4);
        double exposure = between(random, 0.22, 0.34);
        double softness = between(random, 0.35, 0.75);
        double shotNoise = between(random, 0.006, 0.02);
        double sum = 0;
        for (int i = 0; i < rgb.length; i++) {
            int column = i / 3 % size.width();
            double x = (column + 0.5) / size.width() - 0.5;
            int row = i / 3 / size.width();
            double y = (row + 0.5) / size.height() - 0.5;
            double pool = 1 + gradientX * 2 * x + gradientY * 2 * y;
            double shade =
                    dapples == 0
                            ? 0
                            : dapples
                                    * Shapes.step(-0.15, 0.3, foliage.fractal(2.3 * x, 2.3 * y, 2));
            rgb[i] *= (float) (pool * (1 - shade) * (1 - vignette * 2 * (x * x + y * y)));
            sum += rgb[i];
        }
        blur(rgb, softness * Math.min(size.height(), size.width()) / 280.0);
        double gain = Math.min(Math.max(exposure / (sum / rgb.length), 0.75), 1.8);
        for (int i = 0; i < rgb.length; i++) {
            double value = Math.max(gain * rgb[i], 0);
            double noisy = value + shotNoise * Math.sqrt(value + 0.02) * random.nextGaussian();
            bgr[i + 2 - 2 * (i % 3)] = (byte) Math.rint(255 * tone(noisy));
        }
    }

    /** Applies sRGB gamma, with a soft shoulder for highlights. */
    private static double tone(double value) {
        double soft = value < 0.7 ? value : 0.7 + 0.3 * Math.tanh((value - 0.7) / 0.3);
        return Math.pow(Math.max(soft, 0), 1 / 2.2);
    }

    private void blur(float[] values, double sigma) {
        int channels = Math.toIntExact(values.length / size.area());
        Mat mat = new Mat(size.height(), size.width(), CvType.CV_32FC(channels));
        try {
            mat.put(0, 0, values);
            Imgproc.GaussianBlur(mat, mat, new org.opencv.core.Size(0, 0), sigma);
            mat.get(0, 0, values);
        } finally {
            mat.release();
        }
    }
}
