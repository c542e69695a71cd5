package dev.saccade.core;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * Opens files named by users or data sets. Throws a user error for pipes, sockets and devices,
 * which may block or never end. Files of size 0 are read as empty without opening them, because
 * some files in {@code /proc} never end.
 */
public final class RegularFile {

    private RegularFile() {}

    /** Opens a file. Folders can be opened, but reading them fails. */
    public static InputStream open(Path file) throws IOException {
        return isEmpty(file) ? InputStream.nullInputStream() : Files.newInputStream(file);
    }

    /** Throws a user error for pipes, sockets and devices. */
    public static void require(Path file) throws IOException {
        isEmpty(file);
    }

    /** Reads a file; throws a user error if it has more than {@code most} bytes. */
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

    /** Reads a stream, which stays open; throws a user error if it exceeds {@code most} bytes. */
    public static byte[] read(String name, InputStream stream, int most) throws IOException {
        byte[] content = stream.readNBytes(most);
        if (content.length == most && stream.read() >= 0) {
            throw SaccadeException.user("%s: got more than %d bytes", name, most);
        }
        return content;
    }

    /** Returns whether a file is empty; throws a user error unless it is a file or folder. */
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
