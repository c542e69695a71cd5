package dev.saccade.datasets;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.ImmutableList;
import com.google.common.io.Resources;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Reads the tables that are packaged beside this class. */
final class ResourceLines {

    private ResourceLines() {}

    /** Returns the lines of a file. */
    static ImmutableList<String> of(String name) {
        try {
            return ImmutableList.copyOf(
                    Resources.readLines(Resources.getResource(ResourceLines.class, name), UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
