package dev.saccade.datasets.image;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.Count;
import dev.saccade.core.components.Default;

import java.nio.file.Path;
import java.util.List;

/**
 * Channels and values of images. By default, images are decoded to 8-bit RGB by {@link
 * dev.saccade.datasets.image.ImageReader}; otherwise, values are read as stored and mapped to the
 * model's input scale, 0 to 255, by {@link dev.saccade.datasets.image.PixelReader}.
 *
 * @param channels channels of an image, including its extra files
 * @param range two stored values that are mapped to 0 and 255; values outside of it are clipped. If
 *     empty, [0, 255] for 8-bit files; other files are rejected
 * @param extraFiles further files of an image, one channel each, relative to the folder of the
 *     image, such as {@code {name}_nir.tif}
 * @param display channels to show as red, green and blue, counted from 1. If empty, the first three
 *     or, with fewer channels, the first
 */
public record PixelFormat(
        @Default("3") int channels,
        @Default("[]") List<Double> range,
        @Default("[]") List<String> extraFiles,
        @Default("[]") List<Integer> display) {

    public static final PixelFormat RGB = new PixelFormat(3, List.of(), List.of(), List.of());

    /** Limit of OpenCV. */
    public static final int MAX_CHANNELS = 512;

    private static final int RGB_CHANNELS = 3;
    private static final String NAME = "{name}";

    public PixelFormat {
        range = ImmutableList.copyOf(range);
        extraFiles = ImmutableList.copyOf(extraFiles);
        display = ImmutableList.copyOf(display);
        Checks checks =
                new Checks()
                        .inRange("channels", channels, 1, MAX_CHANNELS)
                        .size("extra_files", extraFiles, 0, Math.max(0, channels - 1));
        if (!range.isEmpty()) {
            checks.range("range", range, -1e30, 1e30);
        }
        if (!display.isEmpty()) {
            checks.size("display", display, RGB_CHANNELS, RGB_CHANNELS)
                    .each("display", display, 1, channels);
        }
        checks.throwIfAny();
        Checks.require(
                range.isEmpty() || range.get(0) < range.get(1),
                "range",
                range,
                "a lower and a higher value");
        for (String file : extraFiles) {
            Checks.require(
                    file.contains(NAME)
                            && !file.startsWith("/")
                            && !file.contains("\\")
                            && !file.contains(":")
                            && !file.contains(".."),
                    "extra_files",
                    file,
                    "a path below the folder of the image with {name}, such as {name}_nir.tif");
        }
    }

    /** Creates a format of images in one file each. */
    public static PixelFormat of(int channels, double low, double high) {
        return new PixelFormat(channels, List.of(low, high), List.of(), List.of());
    }

    /** Returns whether images are decoded to 8-bit RGB. */
    public boolean isRgb8() {
        return channels == RGB_CHANNELS && range.isEmpty() && extraFiles.isEmpty();
    }

    /** Returns the further files of an image. */
    public List<Path> extraFiles(Path image) {
        String file = image.getFileName().toString();
        int dot = file.lastIndexOf('.');
        String name = dot > 0 ? file.substring(0, dot) : file;
        return extraFiles.stream()
                .map(pattern -> image.resolveSibling(pattern.replace(NAME, name)))
                .toList();
    }

    /** Returns the indices of the channels to show as red, green and blue. */
    public List<Integer> displayed() {
        if (!display.isEmpty()) {
            return display.stream().map(channel -> channel - 1).toList();
        }
        return channels < RGB_CHANNELS ? List.of(0, 0, 0) : List.of(0, 1, 2);
    }

    /** Returns whether 8-bit RGB images in memory, such as video frames, can be used. */
    public boolean acceptsRgb8() {
        return channels == RGB_CHANNELS
                && extraFiles.isEmpty()
                && (range.isEmpty() || range.get(1) <= ValueMapping.WHITE);
    }

    /** Describes the format in messages, such as "4 channels, range [0.0, 4095.0]". */
    public String describe() {
        return Count.of(channels, "channel")
                + (range.isEmpty() ? " of 8 bits" : ", range " + range);
    }
}
