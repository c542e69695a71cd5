package dev.saccade.datasets;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.base.Preconditions.checkState;

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

    private static final int CHANNELS = 3;
    private static final int LEVELS = 256;

    static final Normalization NONE = new Normalization(new float[CHANNELS], new float[] {1, 1, 1});

    private final float[] mean;
    private final float[] std;
    private final float[][] table = new float[CHANNELS][LEVELS];

    /** Creates lookup tables; mean and std (not 0) of R, G and B refer to values 0..255. */
    public Normalization(float[] mean, float[] std) {
        checkArgument(
                mean.length == CHANNELS && std.length == CHANNELS,
                "mean and std: got %s and %s values, expected 3 each",
                mean.length,
                std.length);
        this.mean = mean.clone();
        this.std = std.clone();
        for (int channel = 0; channel < CHANNELS; channel++) {
            for (int level = 0; level < LEVELS; level++) {
                table[channel][level] = normalize(level, channel);
            }
        }
    }

    private float normalize(double value, int channel) {
        return (float) ((value - mean[channel]) / std[channel]);
    }

    /**
     * Writes an image as three planes, padded with 0 at the bottom and right.
     *
     * @param image [h, w, 3] BGR, uint8 or float32
     * @param target [N, 3, H, W]
     * @param position index into N
     * @param size H and W, at least h and w
     */
    void write(Mat image, FloatBuffer target, int position, Size size) {
        int height = image.rows();
        int width = image.cols();
        int plane = Math.toIntExact(size.area());
        int start = Math.toIntExact((long) position * CHANNELS * plane);
        boolean bytes = image.depth() == CvType.CV_8U;
        byte[] byteRow = new byte[bytes ? CHANNELS * width : 0];
        float[] floatRow = new float[bytes ? 0 : CHANNELS * width];
        float[] line = new float[size.width()];
        for (int y = 0; y < height; y++) {
            // One native call per row is negligible.
            int read = bytes ? image.get(y, 0, byteRow) : image.get(y, 0, floatRow);
            checkState(read > 0, "row %s cannot be read", y);
            for (int channel = 0; channel < CHANNELS; channel++) {
                if (bytes) {
                    normalizeRow(byteRow, channel, line);
                } else {
                    normalizeRow(floatRow, channel, line);
                }
                target.put(start + channel * plane + y * size.width(), line);
            }
        }
        Arrays.fill(line, 0);
        for (int channel = 0; channel < CHANNELS; channel++) {
            for (int y = height; y < size.height(); y++) {
                target.put(start + channel * plane + y * size.width(), line);
            }
        }
    }

    private void normalizeRow(byte[] row, int channel, float[] line) {
        float[] levels = table[channel];
        int blueFirst = CHANNELS - 1 - channel;
        for (int x = 0; x < row.length / CHANNELS; x++) {
            line[x] = levels[row[CHANNELS * x + blueFirst] & 0xFF];
        }
    }

    private void normalizeRow(float[] row, int channel, float[] line) {
        int blueFirst = CHANNELS - 1 - channel;
        for (int x = 0; x < row.length / CHANNELS; x++) {
            line[x] = normalize(row[CHANNELS * x + blueFirst], channel);
        }
    }
}
