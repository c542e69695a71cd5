package dev.saccade.models.checkpoint;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Writes a file whole or not at all: whatever happens, a crash or a full disk included, the name
 * leads to the old content or to the new one.
 */
public final class AtomicFile {

    /** What writes the content of a file. */
    @FunctionalInterface
    public interface Content {

        /** Writes everything to a channel that is empty. */
        void writeTo(FileChannel channel) throws IOException;
    }

    private AtomicFile() {}

    /**
     * Writes to a temporary file beside the target, forces it to the disk and renames it.
     *
     * @param file the target; its folder must exist, an old file is replaced
     * @throws SaccadeException of kind I/O, after which the old file is as it was, or of kind user,
     *     if there is no such folder
     */
    public static void write(Path file, Content content) {
        Path target = file.toAbsolutePath();
        if (!Files.isDirectory(target.getParent())) {
            throw SaccadeException.user("%s: there is no folder %s", file, target.getParent());
        }
        // A fixed name, so that what a killed run has left is overwritten by the next one.
        Path temporary = target.resolveSibling("." + target.getFileName() + ".tmp");
        try {
            try (FileChannel channel =
                    FileChannel.open(
                            temporary,
                            StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE,
                            StandardOpenOption.TRUNCATE_EXISTING)) {
                content.writeTo(channel);
                channel.force(true);
            }
            Files.move(
                    temporary,
                    target,
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
            forceFolder(target.getParent());
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", file, e.getMessage());
        } finally {
            temporary.toFile().delete();
        }
    }

    /** Writes all of a buffer. */
    static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
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
