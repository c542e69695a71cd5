package dev.saccade.checkpoint;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Writes files atomically: after a crash or on a full disk, the old or the new content is complete.
 */
public final class AtomicFile {

    @FunctionalInterface
    public interface Content {

        /** Writes the content to an empty channel. */
        void writeTo(FileChannel channel) throws IOException;
    }

    private static final Pattern TEMPORARY = Pattern.compile("\\..+\\.[0-9a-f-]{36}\\.tmp");

    /** Length of a UUID and {@code .tmp}. */
    private static final int SUFFIX_LENGTH = 40;

    private AtomicFile() {}

    /**
     * Writes to a temporary file next to the target, syncs it and renames it. The folder must
     * exist; after an error, the old file is unchanged.
     */
    public static void write(Path file, Content content) {
        write(file, Optional.empty(), content);
    }

    /** Writes a text in UTF-8; see {@link #write(Path, Content)}. */
    public static void write(Path file, String text) {
        write(file, channel -> writeFully(channel, StandardCharsets.UTF_8.encode(text)));
    }

    /**
     * Writes like {@link #write(Path, Content)} and renames the old file to {@code kept} in the
     * same folder. At every moment, {@code file} or {@code kept} has complete content.
     */
    static void write(Path file, Optional<Path> kept, Content content) {
        Path target = file.toAbsolutePath();
        if (!Files.isDirectory(target.getParent())) {
            throw SaccadeException.user(
                    "%s: folder %s does not exist; create it", file, target.getParent());
        }
        Path temporary = temporary(target);
        try {
            try (FileChannel channel =
                    FileChannel.open(
                            temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                content.writeTo(channel);
                channel.force(true);
            }
            if (kept.isPresent() && Files.exists(target)) {
                rename(target, kept.get());
            }
            rename(temporary, target);
            syncFolder(target.getParent());
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", file, e.getMessage());
        } finally {
            discard(temporary);
        }
    }

    private static void rename(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Deletes a file if possible; ignores errors, so that the original error is reported. */
    private static void discard(Path temporary) {
        try {
            Files.deleteIfExists(temporary);
        } catch (IOException e) {
            return;
        }
    }

    /**
     * Checks that a file can be written later, by creating and deleting a temporary file next to
     * it.
     *
     * @throws SaccadeException if the folder is missing or not writable
     */
    public static void requireWritable(Path file) {
        Path target = file.toAbsolutePath();
        try {
            Files.delete(Files.createFile(temporary(target)));
        } catch (IOException e) {
            throw SaccadeException.io(
                    e,
                    "%s: folder %s is not writable; choose another folder",
                    file,
                    target.getParent());
        }
    }

    /** Deletes temporary files of killed processes; no process may be writing to the folder. */
    public static void removeTemporaryFiles(Path folder) {
        removeTemporaryFiles(folder, "");
    }

    /** Deletes temporary files of a file like {@link #removeTemporaryFiles}, and no others. */
    public static void removeTemporaryFilesOf(Path file) {
        Path target = file.toAbsolutePath();
        removeTemporaryFiles(target.getParent(), temporaryPrefix(target));
    }

    private static void removeTemporaryFiles(Path folder, String prefix) {
        try (Stream<Path> files = Files.list(folder)) {
            files.filter(file -> isTemporary(file, prefix)).forEach(AtomicFile::discard);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", folder, e.getMessage());
        }
    }

    /** Returns whether a file has the name of a temporary file, which may be incomplete. */
    static boolean isTemporary(Path file) {
        return isTemporary(file, "");
    }

    private static boolean isTemporary(Path file, String prefix) {
        String name = String.valueOf(file.getFileName());
        return name.startsWith(prefix)
                && TEMPORARY.matcher(name).matches()
                && (prefix.isEmpty() || name.length() == prefix.length() + SUFFIX_LENGTH);
    }

    private static Path temporary(Path target) {
        return target.resolveSibling(temporaryPrefix(target) + UUID.randomUUID() + ".tmp");
    }

    private static String temporaryPrefix(Path target) {
        return "." + target.getFileName() + ".";
    }

    public static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /** Syncs the folder so that the rename survives a crash; not possible or needed on Windows. */
    private static void syncFolder(Path folder) throws IOException {
        if (!System.getProperty("os.name").startsWith("Windows")) {
            try (FileChannel channel = FileChannel.open(folder)) {
                channel.force(true);
            }
        }
    }
}
