package dev.saccade.datasets.convert.formats;

import com.google.errorprone.annotations.Immutable;

import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.source.SourceFolder;

@Immutable
interface LabelReader {

    /** Returns all labels of a folder; faults are reported, not thrown. */
    SourceLabels read(ConversionContext context);

    /** Returns whether a folder is in this format; false for formats guessed from label files. */
    default boolean detects(SourceFolder folder) {
        return false;
    }
}
