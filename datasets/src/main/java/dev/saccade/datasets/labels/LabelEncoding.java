package dev.saccade.datasets.labels;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.image.IndexPng;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The meaning of the values in label maps.
 *
 * @param classes number of classes
 * @param reduceZeroLabel whether 0 means no class, and class indices start at 1
 * @param ignoreIndex value of pixels without a class, with or without {@code reduceZeroLabel}
 * @param hint advice in the error for an unknown value; unused with {@code reduceZeroLabel}
 */
public record LabelEncoding(int classes, boolean reduceZeroLabel, int ignoreIndex, String hint) {

    private static final int NONE = -2;
    private static final int MAX_SHOWN = 5;

    public LabelEncoding {
        checkArgument(
                classes > 0 && classes < LabelMap.MAX_CLASSES,
                "classes: expected 1 to %s, got %s",
                LabelMap.MAX_CLASSES - 1,
                classes);
        int first = reduceZeroLabel ? 1 : 0;
        checkArgument(
                ignoreIndex < first || ignoreIndex >= first + classes,
                "ignore_index: %s is a class index; expected a value outside of %s to %s",
                ignoreIndex,
                first,
                first + classes - 1);
    }

    private int label(int number) {
        if (number == ignoreIndex || (reduceZeroLabel && number == 0)) {
            return LabelMap.IGNORE;
        }
        int label = reduceZeroLabel ? number - 1 : number;
        return label < classes ? label : NONE;
    }

    /** Decodes a label map; throws if it has unknown values. */
    public LabelMap decode(Path file) {
        IndexPng png = IndexPng.read(file);
        short[] labels = new short[1 << Short.SIZE];
        boolean[] known = new boolean[labels.length];
        for (int number = 0; number < labels.length; number++) {
            int label = label(number);
            labels[number] = (short) label;
            known[number] = label != NONE;
        }
        short[] map = new short[png.values().length];
        boolean allKnown = true;
        for (int i = 0; i < map.length; i++) {
            int number = Short.toUnsignedInt(png.values()[i]);
            map[i] = labels[number];
            allKnown &= known[number];
        }
        if (!allKnown) {
            throw SaccadeException.user("%s: %s", file, fault(png).orElseThrow());
        }
        return LabelMap.of(png.size(), map);
    }

    /** Returns the pixels per class, [classes + 1]; the last counts ignored pixels. */
    public long[] count(IndexPng png) {
        long[] counts = new long[classes + 1];
        int[] histogram = png.histogram();
        for (int number = 0; number < histogram.length; number++) {
            int label = label(number);
            if (label != NONE) {
                counts[label == LabelMap.IGNORE ? classes : label] += histogram[number];
            }
        }
        return counts;
    }

    /** Describes the unknown values of a file and their positions; empty if there are none. */
    public Optional<String> fault(IndexPng png) {
        int[] histogram = png.histogram();
        int[] unknown =
                IntStream.range(0, histogram.length)
                        .filter(number -> histogram[number] > 0 && label(number) == NONE)
                        .toArray();
        if (unknown.length == 0) {
            return Optional.empty();
        }
        String shown =
                Arrays.stream(unknown)
                        .limit(MAX_SHOWN)
                        .mapToObj(
                                number ->
                                        Text.format(
                                                "%d in %s, first in %s",
                                                number,
                                                Count.of(histogram[number], "pixel"),
                                                png.first(number)))
                        .collect(Collectors.joining("; "));
        int more = unknown.length - MAX_SHOWN;
        String unlisted = more > 0 ? "; and " + more + " other values" : "";
        return Optional.of(Text.format("value %s%s; expected %s", shown, unlisted, expected()));
    }

    private String expected() {
        return reduceZeroLabel
                ? Text.format(
                        "0 (no class), 1 to %d (classes) or %d (ignored)", classes, ignoreIndex)
                : Text.format(
                        "0 to %d (classes) or %d (ignored); %s", classes - 1, ignoreIndex, hint);
    }
}
