package dev.saccade.datasets;

import java.nio.file.Path;
import java.util.OptionalLong;

/** Receives the files of a data set during its check, from several threads. */
public interface CheckedFiles {

    /** Ignores all files. */
    CheckedFiles NONE =
            new CheckedFiles() {
                @Override
                public void image(OptionalLong id, Path file, OptionalLong pixels) {
                    // Nothing to compare with.
                }

                @Override
                public void labelMap(Path file) {
                    // Nothing to compare with.
                }
            };

    /** Receives an image, with its id and the hash of its pixels if known. */
    void image(OptionalLong id, Path file, OptionalLong pixels);

    void labelMap(Path file);
}
