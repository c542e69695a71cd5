package dev.saccade.datasets.convert;

import java.io.OutputStream;
import java.nio.file.Path;

/** Takes the files of a converted data set. */
public interface ConvertedFolder {

    /**
     * Returns a new file to be filled and closed.
     *
     * @param name relative to the folder, with {@code /} between the names
     */
    OutputStream create(String name);

    /** Takes a file as it is, by a hard link or a copy. */
    void take(String name, Path file);
}
