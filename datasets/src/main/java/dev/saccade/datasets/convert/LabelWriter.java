package dev.saccade.datasets.convert;

import com.google.errorprone.annotations.Immutable;

import dev.saccade.core.OutputFolder;

import java.io.IOException;
import java.util.List;

/** Writes object labels in one format; image names are relative to {@code images/}. */
@Immutable
interface LabelWriter {

    void write(SourceLabels labels, OutputFolder target) throws IOException;

    /** Rejects names of images that the format cannot represent together. */
    default void requireNames(List<String> images) {}
}
