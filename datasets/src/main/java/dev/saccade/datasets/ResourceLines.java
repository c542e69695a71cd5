package dev.saccade.datasets;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.ImmutableList;
import com.google.common.io.Resources;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Reads the lines of text files on the class path. */
public final class ResourceLines {

    private ResourceLines() {}

    public static ImmutableList<String> read(Class<?> beside, String name) {
        try {
            return ImmutableList.copyOf(
                    Resources.readLines(Resources.getResource(beside, name), UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
