package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;

/** The 150 classes of ADE20K's scene parsing benchmark, with their published colours. */
final class Ade20kClasses {

    /** Colour and name of a class a line, below a header. */
    private static final ImmutableList<String> LINES =
            ResourceLines.of("ade20k.csv").stream()
                    .skip(1)
                    .collect(ImmutableList.toImmutableList());

    static final ImmutableList<String> NAMES =
            LINES.stream()
                    .map(line -> line.substring(line.indexOf(',') + 1))
                    .collect(ImmutableList.toImmutableList());

    /** As {@code 0xRRGGBB}; road and skyscraper share one. */
    static final ImmutableList<Integer> COLOURS =
            LINES.stream()
                    .map(line -> Integer.valueOf(line.substring(0, line.indexOf(',')), 16))
                    .collect(ImmutableList.toImmutableList());

    private Ade20kClasses() {}
}
