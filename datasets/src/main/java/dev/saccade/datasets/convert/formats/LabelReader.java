package dev.saccade.datasets.convert.formats;

import com.google.errorprone.annotations.Immutable;

import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.source.SourceFolder;

/** Reads the labels of a format. */
@Immutable
interface LabelReader {

    /** Returns all labels of a folder; faults are reported, not thrown. */
    SourceLabels read(ConversionContext context);

    /** Returns whether a folder has labels of the format that no single file reveals. */
    default boolean detects(SourceFolder folder) {
        return false;
    }
}
