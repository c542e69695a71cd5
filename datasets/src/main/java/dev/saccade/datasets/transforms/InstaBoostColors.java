package dev.saccade.datasets.transforms;

import dev.saccade.core.structures.Size;

import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;

/**
 * The color changes of InstaBoost, equal to Pillow's {@code ImageEnhance}: saturation, brightness,
 * contrast and sharpness, in this order. Factors are in tenths; 10 changes nothing.
 */
record InstaBoostColors(int saturation, int brightness, int contrast, int sharpness) {

    /** Samples factors: saturation and sharpness in 0..3, brightness and contrast in 1..2. */
    static InstaBoostColors sample(SplittableRandom random) {
        return new InstaBoostColors(
                random.nextInt(31),
                10 + random.nextInt(11),
                10 + random.nextInt(11),
                random.nextInt(31));
    }

    /** Changes {@code [H, W, 3]} BGR pixels in place. */
    void apply(byte[] pixels, Size size) {
        blend(pixels, saturation, at -> gray(pixels, at));
        blend(pixels, brightness, at -> 0);
        int mean = meanGray(pixels);
        blend(pixels, contrast, at -> mean);
        byte[] smooth = smoothed(pixels, size);
        blend(pixels, sharpness, at -> smooth[at] & 0xff);
    }

    /** Sets each value to {@code reference + tenths / 10 * (value - reference)}, clipped. */
    private static void blend(byte[] pixels, int tenths, IntUnaryOperator reference) {
        float factor = (float) (tenths / 10.0);
        int[] from = new int[3];
        for (int pixel = 0; pixel < pixels.length; pixel += 3) {
            for (int channel = 0; channel < 3; channel++) {
                from[channel] = reference.applyAsInt(pixel + channel);
            }
            for (int channel = 0; channel < 3; channel++) {
                int value = pixels[pixel + channel] & 0xff;
                float blended = from[channel] + factor * (value - from[channel]);
                pixels[pixel + channel] = (byte) (int) Math.min(Math.max(blended, 0), 255);
            }
        }
    }

    private static int gray(byte[] pixels, int at) {
        int pixel = at - at % 3;
        return (7471 * (pixels[pixel] & 0xff)
                        + 38470 * (pixels[pixel + 1] & 0xff)
                        + 19595 * (pixels[pixel + 2] & 0xff)
                        + 0x8000)
                >> 16;
    }

    private static int meanGray(byte[] pixels) {
        long sum = 0;
        for (int at = 0; at < pixels.length; at += 3) {
            sum += gray(pixels, at);
        }
        return (int) (sum / (pixels.length / 3.0) + 0.5);
    }

    /** Returns the pixels smoothed by a 3x3 kernel of center weight 5, except for the border. */
    private static byte[] smoothed(byte[] pixels, Size size) {
        byte[] smooth = pixels.clone();
        int row = 3 * size.width();
        for (int y = 1; y < size.height() - 1; y++) {
            for (int at = y * row + 3; at < (y + 1) * row - 3; at++) {
                int sum = 4 * (pixels[at] & 0xff);
                for (int dy = -row; dy <= row; dy += row) {
                    for (int dx = -3; dx <= 3; dx += 3) {
                        sum += pixels[at + dy + dx] & 0xff;
                    }
                }
                smooth[at] = (byte) (int) (sum / 13.0 + 0.5);
            }
        }
        return smooth;
    }
}
