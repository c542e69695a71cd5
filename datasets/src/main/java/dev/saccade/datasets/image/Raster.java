package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.SaccadeException;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Pixels as stored in a file, {@code [H, W, C]}.
 *
 * @param samples the values, little-endian, channels next to each other
 */
public record Raster(int height, int width, int channels, SampleType type, ByteBuffer samples) {

    private static final int MAX_BYTES = Integer.MAX_VALUE - 64;

    public Raster {
        samples = samples.slice().order(ByteOrder.LITTLE_ENDIAN);
        checkArgument(
                samples.limit() == (long) height * width * channels * type.bytes(),
                "samples: got %s bytes",
                samples.limit());
    }

    /** Allocates a raster of zeros; throws if it is larger than 2 GB. */
    static Raster allocate(String file, int height, int width, int channels, SampleType type) {
        double bytes = (double) height * width * channels * type.bytes();
        if (bytes > MAX_BYTES) {
            throw SaccadeException.user(
                    "%s: %d x %d pixels of %d channels take %.1f GB, expected at most 2 GB; read"
                            + " the image in windows or tiles",
                    file, width, height, channels, bytes / (1 << 30));
        }
        return new Raster(height, width, channels, type, ByteBuffer.allocate((int) bytes));
    }

    /** Returns a stored value; exact for all types. */
    public double value(int y, int x, int channel) {
        return type.read(samples, index(y, x, channel));
    }

    int index(int y, int x, int channel) {
        return ((y * width + x) * channels + channel) * type.bytes();
    }
}
