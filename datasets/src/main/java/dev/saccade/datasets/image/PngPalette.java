package dev.saccade.datasets.image;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads the palette of a PNG, which comes before its pixels. */
public final class PngPalette {

    private static final long SIGNATURE = 0x89504E470D0A1A0AL;
    private static final int PALETTE = 0x504C5445;
    private static final int PIXELS = 0x49444154;
    private static final int MOST_BYTES = 768;
    private static final int CHECKSUM = 4;

    private PngPalette() {}

    /**
     * Returns the colors as 0xRRGGBB without black ones at the end; none if the file is no readable
     * PNG with a palette.
     */
    public static List<Integer> read(Path file) {
        if (!Files.isRegularFile(file)) {
            return List.of();
        }
        try (DataInputStream png =
                new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            if (png.readLong() != SIGNATURE) {
                return List.of();
            }
            while (true) {
                long length = Integer.toUnsignedLong(png.readInt());
                int type = png.readInt();
                if (type == PALETTE && length <= MOST_BYTES) {
                    return colors(png.readNBytes((int) length));
                } else if (type == PIXELS) {
                    return List.of();
                }
                png.skipNBytes(length + CHECKSUM);
            }
        } catch (IOException e) {
            // The check of the label map reports why it cannot be read.
            return List.of();
        }
    }

    private static List<Integer> colors(byte[] rgb) {
        List<Integer> colors = new ArrayList<>();
        for (int i = 0; i + 2 < rgb.length; i += 3) {
            colors.add(((rgb[i] & 0xFF) << 16) | ((rgb[i + 1] & 0xFF) << 8) | (rgb[i + 2] & 0xFF));
        }
        while (!colors.isEmpty() && colors.get(colors.size() - 1) == 0) {
            colors.remove(colors.size() - 1);
        }
        return List.copyOf(colors);
    }
}
