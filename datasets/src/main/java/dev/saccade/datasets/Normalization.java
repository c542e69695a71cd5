package dev.saccade.datasets;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.base.Preconditions.checkState;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;

import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.nio.FloatBuffer;
import java.util.Arrays;

/**
 * Converts BGR pixels to normalized RGB planes, {@code (value - mean) / std} per channel.
 *
 * <p>Bytes are looked up in a table of 256 values per channel, computed in double and rounded once,
 * so the results equal mmcv's {@code imnormalize}.
 */
public final class Normalization {

    private static final int RGB = 3;
    private static final int LEVELS = 256;

    private final int channels;

    private final float[] mean;
    private final float[] std;
    private final float[][] table;

    /** Returns a normalization that changes no values. */
    static Normalization none(int channels) {
        float[] ones = new float[channels];
        Arrays.fill(ones, 1);
        return new Normalization(new float[channels], ones);
    }

    /**
     * Creates lookup tables; mean and std (not 0) of each channel, such as R, G and B, refer to
     * values 0..255.
     */
    public Normalization(float[] mean, float[] std) {
        checkArgument(
                mean.length == std.length,
                "mean and std: got %s and %s values, expected as many",
                mean.length,
                std.length);
        channels = mean.length;
        table = new float[channels][LEVELS];
        this.mean = mean.clone();
        this.std = std.clone();
        for (int channel = 0; channel < channels; channel++) {
            for (int level = 0; level < LEVELS; level++) {
                table[channel][level] = normalize(level, channel);
            }
        }
    }

    private float normalize(double value, int channel) {
        return (float) ((value - mean[channel]) / std[channel]);
    }

    /**
     * Writes an image as planes, padded with 0 at the bottom and right.
     *
     * @param image [h, w, C] uint8 or float32; three channels are BGR
     * @param target [N, C, H, W]
     * @param position index into N
     * @param size H and W, at least h and w
     */
    void write(Mat image, FloatBuffer target, int position, Size size) {
        if (image.channels() != channels) {
            throw SaccadeException.user(
                    "normalize: mean and std have %d values, but the image has %d channels; set one"
                            + " value per channel",
                    channels, image.channels());
        }
        int height = image.rows();
        int width = image.cols();
        int plane = Math.toIntExact(size.area());
        int start = Math.toIntExact((long) position * channels * plane);
        boolean bytes = image.depth() == CvType.CV_8U;
        byte[] byteRow = new byte[bytes ? channels * width : 0];
        float[] floatRow = new float[bytes ? 0 : channels * width];
        float[] line = new float[size.width()];
        for (int y = 0; y < height; y++) {
            // One native call per row is negligible.
            int read = bytes ? image.get(y, 0, byteRow) : image.get(y, 0, floatRow);
            checkState(read > 0, "row %s cannot be read", y);
            for (int channel = 0; channel < channels; channel++) {
                if (bytes) {
                    normalizeRow(byteRow, channel, line);
                } else {
                    normalizeRow(floatRow, channel, line);
                }
                target.put(start + channel * plane + y * size.width(), line);
            }
        }
        Arrays.fill(line, 0);
        for (int channel = 0; channel < channels; channel++) {
            for (int y = height; y < size.height(); y++) {
                target.put(start + channel * plane + y * size.width(), line);
            }
        }
    }

    private void normalizeRow(byte[] row, int channel, float[] line) {
        float[] levels = table[channel];
        int index = indexOf(channel);
        for (int x = 0; x < row.length / channels; x++) {
            line[x] = levels[row[channels * x + index] & 0xFF];
        }
    }

    private void normalizeRow(float[] row, int channel, float[] line) {
        int index = indexOf(channel);
        for (int x = 0; x < row.length / channels; x++) {
            line[x] = normalize(row[channels * x + index], channel);
        }
    }

    /** Returns the index in the image; three channels are blue first. */
    private int indexOf(int channel) {
        return channels == RGB ? RGB - 1 - channel : channel;
    }
}
