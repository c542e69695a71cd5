package dev.saccade.datasets.ade20k;

import com.google.common.collect.ImmutableList;

import dev.saccade.datasets.ResourceLines;

/** The 150 classes of ADE20K's scene parsing benchmark, with their published colors. */
public final class Ade20kClasses {

    private static final ImmutableList<String> LINES =
            ResourceLines.read(Ade20kClasses.class, "classes.csv").stream()
                    .skip(1)
                    .collect(ImmutableList.toImmutableList());

    /** The class names in the order of the labels. */
    public static final ImmutableList<String> NAMES =
            LINES.stream()
                    .map(line -> line.substring(line.indexOf(',') + 1))
                    .collect(ImmutableList.toImmutableList());

    /** The class colors as {@code 0xRRGGBB}; road and skyscraper have the same color. */
    public static final ImmutableList<Integer> COLORS =
            LINES.stream()
                    .map(line -> Integer.valueOf(line.substring(0, line.indexOf(',')), 16))
                    .collect(ImmutableList.toImmutableList());

    private Ade20kClasses() {}
}
