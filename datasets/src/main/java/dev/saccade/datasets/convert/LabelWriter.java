package dev.saccade.datasets.convert;

import com.google.errorprone.annotations.Immutable;

import dev.saccade.core.OutputFolder;

import java.io.IOException;

/** Writes object labels in one format; image names are relative to {@code images/}. */
@Immutable
interface LabelWriter {

    void write(SourceLabels labels, OutputFolder target) throws IOException;
}
