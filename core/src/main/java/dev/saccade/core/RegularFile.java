package dev.saccade.core;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * The door to files that a user or a data set names: what is no regular file, such as a pipe that
 * nobody writes to or a device without an end, is never opened. Nor is what has no bytes: a kernel
 * gives the files that it makes up, such as those in {@code /proc}, a size of 0, and some of them
 * never end.
 */
public final class RegularFile {

    private RegularFile() {}

    /**
     * Opens a file.
     *
     * @throws SaccadeException of kind user, if it is a pipe, a socket or a device
     * @throws NoSuchFileException if it is missing
     * @throws IOException if it cannot be opened; that of a folder is thrown once it is read
     */
    public static InputStream open(Path file) throws IOException {
        return isEmpty(file) ? InputStream.nullInputStream() : Files.newInputStream(file);
    }

    /**
     * Returns the content of a file.
     *
     * @param most the most bytes it may have; one that has more is not read
     * @throws SaccadeException of kind user, if it is a pipe, a socket, a device or too large
     * @throws NoSuchFileException if it is missing
     * @throws IOException if it cannot be read
     */
    public static byte[] read(Path file, int most) throws IOException {
        if (isEmpty(file)) {
            return new byte[0];
        }
        long length = Files.size(file);
        if (length > most) {
            throw SaccadeException.user(
                    "%s: got %d bytes, expected at most %d", file, length, most);
        }
        return Files.readAllBytes(file);
    }

    /**
     * Returns what a stream holds until its end; the caller closes it.
     *
     * @param name what messages call it
     * @param most the most bytes it may hold; of more, not much is read
     * @throws SaccadeException of kind user, if it holds more
     * @throws IOException if it cannot be read
     */
    public static byte[] read(String name, InputStream stream, int most) throws IOException {
        byte[] content = stream.readNBytes(most);
        if (content.length == most && stream.read() >= 0) {
            throw SaccadeException.user("%s: got more than %d bytes", name, most);
        }
        return content;
    }

    /** Returns whether a file has no bytes; refuses what is no file, but for folders. */
    private static boolean isEmpty(Path file) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        if (attributes.isOther()) {
            throw SaccadeException.user(
                    "%s: is a pipe, a socket or a device, expected a regular file; copy its"
                            + " content to a file",
                    file);
        }
        return attributes.isRegularFile() && attributes.size() == 0;
    }
}
