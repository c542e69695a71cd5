package dev.saccade.checkpoint;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

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
 * Writes a file whole or not at all: whatever happens, a crash or a full disk included, the name
 * leads to the old content or to the new one.
 */
public final class AtomicFile {

    /** Writes the content of a file. */
    @FunctionalInterface
    public interface Content {

        /** Writes everything to a channel that is empty. */
        void writeTo(FileChannel channel) throws IOException;
    }

    private static final Pattern TEMPORARY = Pattern.compile("\\..+\\.[0-9a-f-]{36}\\.tmp");

    private AtomicFile() {}

    /**
     * Writes to a temporary file beside the target, forces it to the disk and renames it.
     *
     * @param file the target; its folder must exist, an old file is replaced
     * @throws SaccadeException of kind I/O, after which the old file is as it was, or of kind user,
     *     if there is no such folder
     */
    public static void write(Path file, Content content) {
        write(file, Optional.empty(), content);
    }

    /** Writes a text in UTF-8; see {@link #write(Path, Content)}. */
    public static void write(Path file, String text) {
        write(file, channel -> writeFully(channel, StandardCharsets.UTF_8.encode(text)));
    }

    /**
     * Writes like {@link #write(Path, Content)}, but lets the old file go on under another name,
     * which it takes once the new content is on the disk. At every moment one of the two names
     * leads to the old content or to the new one.
     *
     * @param kept the other name, if there is one, in the same folder; a file that has it is
     *     replaced
     */
    static void write(Path file, Optional<Path> kept, Content content) {
        Path target = file.toAbsolutePath();
        if (!Files.isDirectory(target.getParent())) {
            throw SaccadeException.user("%s: there is no folder %s", file, target.getParent());
        }
        Path temporary =
                target.resolveSibling(
                        Text.format(".%s.%s.tmp", target.getFileName(), UUID.randomUUID()));
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
            forceFolder(target.getParent());
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", file, e.getMessage());
        } finally {
            discard(temporary);
        }
    }

    private static void rename(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Deletes a file if possible; the error that was thrown before matters more. */
    private static void discard(Path temporary) {
        try {
            Files.deleteIfExists(temporary);
        } catch (IOException e) {
            return;
        }
    }

    /**
     * Removes what processes that were killed while they wrote have left in a folder, in which
     * nobody writes now.
     *
     * @throws SaccadeException of kind I/O, if the folder cannot be listed
     */
    public static void removeLeftovers(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            files.filter(file -> TEMPORARY.matcher(file.getFileName().toString()).matches())
                    .forEach(AtomicFile::discard);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", folder, e.getMessage());
        }
    }

    /** Writes all of a buffer. */
    public static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /** Makes the new name last; on Windows folders cannot be opened and need no forcing. */
    private static void forceFolder(Path folder) throws IOException {
        if (!System.getProperty("os.name").startsWith("Windows")) {
            try (FileChannel channel = FileChannel.open(folder)) {
                channel.force(true);
            }
        }
    }
}
