package dev.saccade.configgen;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.Problems;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.Workers;
import dev.saccade.datasets.ChannelStatistics;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.image.PixelFormat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;

/**
 * Channels and values of images that are not decoded to 8-bit RGB, from a sample of the images:
 * more than 8 bits, NumPy arrays, and TIFFs that are not gray, RGB or RGBA.
 *
 * @param format 8-bit RGB if no image of the sample can be read
 * @param types such as {@code uint16}
 * @param low lowest value of the sample; likewise {@code high}
 * @param images images of the sample
 * @param large images of the sample that are only read in the center
 * @param paged images of the sample with further pages, which are not read
 * @param faults images that cannot be read or have other channels
 */
public record StoredPixels(
        PixelFormat format,
        Set<String> types,
        double low,
        double high,
        int images,
        int large,
        int paged,
        ChannelStatistics statistics,
        List<String> faults) {

    private static final int SAMPLED = 50;
    private static final int THREADS = 4;
    private static final Set<Integer> DECODED_CHANNELS = Set.of(1, 3, 4);

    /** Reads a sample of the images; empty if they are decoded to 8-bit RGB. */
    public static Optional<StoredPixels> of(List<Path> images, ProgressBar.Factory bars) {
        if (images.isEmpty() || isDecoded(images.get(0))) {
            return Optional.empty();
        }
        int step = (images.size() + SAMPLED - 1) / SAMPLED;
        List<String> faults = Collections.synchronizedList(new ArrayList<>());
        List<Callable<Optional<ValueSample>>> tasks = new ArrayList<>();
        for (int i = 0; i < images.size(); i += step) {
            Path image = images.get(i);
            tasks.add(() -> read(image, faults));
        }
        int threads = Math.min(THREADS, Runtime.getRuntime().availableProcessors());
        List<ValueSample> samples = new ArrayList<>();
        try (Workers workers = new Workers("values", threads);
                ProgressBar bar = bars.open("values", tasks.size(), " images")) {
            workers.run(
                    tasks,
                    sample -> {
                        sample.ifPresent(samples::add);
                        bar.step();
                    });
        }
        // Threads add faults in any order.
        Collections.sort(faults);
        return Optional.of(samples.isEmpty() ? unreadable(faults) : of(samples, faults));
    }

    private static Optional<ValueSample> read(Path image, List<String> faults) {
        try {
            return Optional.of(ValueSample.read(image));
        } catch (SaccadeException e) {
            faults.add(e.getMessage());
            return Optional.empty();
        }
    }

    private static StoredPixels unreadable(List<String> faults) {
        ImmutableDoubleArray none = ImmutableDoubleArray.of();
        return new StoredPixels(
                PixelFormat.RGB,
                Set.of(),
                0,
                0,
                0,
                0,
                0,
                new ChannelStatistics(0, none, none),
                List.copyOf(faults));
    }

    private static StoredPixels of(List<ValueSample> samples, List<String> faults) {
        ValueSample first = samples.get(0);
        for (ValueSample other : samples) {
            if (other.channels() != first.channels()) {
                faults.add(
                        Printable.format(
                                "%s: has %d channels, but %s has %d; use images with the same"
                                        + " channels",
                                other.file(), other.channels(), first.file(), first.channels()));
            }
        }
        samples.removeIf(other -> other.channels() != first.channels());
        ValueSample all = samples.stream().reduce(ValueSample::plus).orElseThrow();
        PixelFormat format = format(all);
        return new StoredPixels(
                format,
                all.types(),
                all.low(),
                all.high(),
                samples.size(),
                all.large(),
                all.paged(),
                all.mapped(format),
                List.copyOf(faults));
    }

    /** Throws if an image of the sample cannot be read or has other channels. */
    void requireNoFaults() {
        Problems problems = new Problems();
        faults.forEach(fault -> problems.add("%s", fault));
        problems.throwIfAny("images");
    }

    private static boolean isDecoded(Path file) {
        ImageHeader header;
        try {
            header = ImageHeader.read(file);
        } catch (SaccadeException e) {
            // The check of the data set reports unreadable images.
            return true;
        }
        return switch (header.kind()) {
            case NUMPY -> false;
            case TIFF -> header.bits() <= Byte.SIZE && DECODED_CHANNELS.contains(header.channels());
            default -> header.bits() <= Byte.SIZE;
        };
    }

    /** Returns the smallest range of 8 or more bits for unsigned values, else the values found. */
    private static PixelFormat format(ValueSample all) {
        double low = all.low();
        double high = all.high();
        if (!all.isUnsigned()) {
            return PixelFormat.of(all.channels(), low < high ? low : 0, low < high ? high : 1);
        }
        int bits = Math.max(Byte.SIZE, Long.SIZE - Long.numberOfLeadingZeros((long) high));
        return PixelFormat.of(all.channels(), 0, (double) ((1L << bits) - 1));
    }

    /** Returns comments about the sample. */
    List<String> describe() {
        List<String> lines = new ArrayList<>();
        lines.add(
                Text.format(
                        "%s of %s, %s in %s.",
                        Count.of(format.channels(), "channel"),
                        String.join(" and ", types),
                        low <= high ? number(low) + " to " + number(high) : "only missing values",
                        Count.of(images, "image")));
        if (large > 0) {
            lines.add(
                    Text.format("Only the center of %s was read.", Count.of(large, "large image")));
        }
        if (paged > 0) {
            lines.add(
                    Text.format(
                            "Only the first page of %s was read. If pages are channels, set"
                                    + " channels and normalize.",
                            Count.of(paged, "image")));
        }
        return lines;
    }

    /** Returns the lines of {@code data} for the channels and the range. */
    String settings() {
        return Text.format(
                "  channels: %d\n  range: [%s, %s]",
                format.channels(), number(format.range().get(0)), number(format.range().get(1)));
    }

    String normalize() {
        return Text.format(
                "{type: normalize, mean: %s, std: %s}",
                statistics.mean().stream().map(each -> Text.format("%.2f", each)).toList(),
                // Constant channels have no deviation.
                statistics.std().stream()
                        .map(each -> Text.format("%.2f", Math.max(1, each)))
                        .toList());
    }

    private static String number(double value) {
        return Math.rint(value) == value ? Text.format("%.0f", value) : Text.format("%.6g", value);
    }
}
