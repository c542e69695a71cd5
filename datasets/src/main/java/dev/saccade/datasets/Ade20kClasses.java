package dev.saccade.datasets;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.ImmutableList;
import com.google.common.io.Resources;

import java.io.IOException;
import java.io.UncheckedIOException;

/** The 150 classes of ADE20K's scene parsing benchmark, with their published colours. */
final class Ade20kClasses {

    /** Colour and name of a class a line, below a header. */
    private static final ImmutableList<String> LINES = read("ade20k.csv");

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

    private static ImmutableList<String> read(String resource) {
        try {
            return Resources.readLines(Resources.getResource(Ade20kClasses.class, resource), UTF_8)
                    .stream()
                    .skip(1)
                    .collect(ImmutableList.toImmutableList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
