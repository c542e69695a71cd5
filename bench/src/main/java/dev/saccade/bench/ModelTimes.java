package dev.saccade.bench;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.google.common.base.Ascii;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.Text;
import dev.saccade.core.bench.Timing;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.nn.Quantization;
import dev.saccade.core.ops.script.Kernels;

import java.util.Map;

/**
 * Measured times of a model.
 *
 * @param input network input size
 * @param classes number of classes
 * @param quantizedLayers number of quantized layers
 * @param hostReads array reads per pass; each read waits for the GPU
 * @param hostWrites copies of Java values to arrays per pass
 * @param readBy reads by code location
 * @param writtenBy writes by code location
 * @param largestBatch null for predictions, if not requested, or if tensor memory is not tracked
 */
public record ModelTimes(
        String name,
        String pass,
        int images,
        String input,
        int classes,
        String device,
        Precision precision,
        int quantizedLayers,
        Map<String, Timing> times,
        int hostReads,
        int hostWrites,
        @JsonProperty("host_reads_by") Map<String, Integer> readBy,
        @JsonProperty("host_writes_by") Map<String, Integer> writtenBy,
        @JsonProperty("peak_memory_mib") long peakMemoryMiB,
        LargestBatch largestBatch) {

    @Override
    public String toString() {
        return Printable.format(
                        "%s, %s, %d x %s, %s%n",
                        name, pass, images, input, Count.of(classes, "class"))
                + Text.format("  device         %s%n", device)
                + Text.format("  precision      %s%n", Ascii.toLowerCase(precision.name()))
                + (quantizedLayers == 0 ? "" : Text.format("  quantized      %s%n", quantization()))
                + Text.format("  operators      %s%n", Kernels.status())
                + Timing.lines(times)
                + (times.size() < 2
                        ? ""
                        : Text.format("  speedup        %s%n", Timing.ratio(times)))
                + Text.format("  host reads     %s%n", places(hostReads, readBy))
                + Text.format("  host writes    %s%n", places(hostWrites, writtenBy))
                + Text.format("  peak memory    %d MiB of this process", peakMemoryMiB)
                + (largestBatch == null ? "" : Text.format("%n  largest batch  %s", largestBatch));
    }

    private String quantization() {
        return Count.of(quantizedLayers, "layer")
                + (Quantization.isFast() && device.startsWith("cpu") ? "" : ", not faster here");
    }

    private static String places(int sum, Map<String, Integer> counts) {
        return counts.isEmpty()
                ? "0"
                : counts.entrySet().stream()
                        .map(place -> place.getKey() + " " + place.getValue())
                        .collect(joining(", ", sum + " (", ")"));
    }
}
