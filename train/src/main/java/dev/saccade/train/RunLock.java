package dev.saccade.train;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.checkpoint.AtomicFile;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * Keeps a second training out of the folder of a run, also one of another process. It ends with the
 * process, however that ends; its file stays.
 */
final class RunLock {

    private static final Logger log = LoggerFactory.getLogger(RunLock.class);

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT);

    /** Behind the text of the file, which others may read while the lock is held. */
    private static final long LOCKED_BYTE = Long.MAX_VALUE - 1;

    private final FileChannel channel;

    private RunLock(FileChannel channel) {
        this.channel = channel;
    }

    /**
     * Returns what is done in the folder of a run, which exists, while nobody else trains there.
     * What killed trainings have left half written is removed first.
     *
     * @throws SaccadeException of kind user that tells which process has the folder, if one has
     */
    static <T> T during(RunFolder folder, Supplier<T> work) {
        RunLock lock = open(folder);
        try {
            lock.take(folder);
            AtomicFile.removeLeftovers(folder.path());
            AtomicFile.removeLeftovers(folder.checkpoints());
            return work.get();
        } finally {
            lock.close();
        }
    }

    /**
     * Refuses a folder in which a training is under way.
     *
     * @throws SaccadeException of kind user that tells which process has it
     */
    static void requireNone(RunFolder folder) {
        if (Files.exists(folder.lock())) {
            RunLock lock = open(folder);
            try {
                lock.requireFree(folder);
            } finally {
                lock.close();
            }
        }
    }

    private static RunLock open(RunFolder folder) {
        try {
            return new RunLock(
                    FileChannel.open(
                            folder.lock(), StandardOpenOption.CREATE, StandardOpenOption.WRITE));
        } catch (IOException e) {
            throw failure(folder, e);
        }
    }

    private void take(RunFolder folder) {
        requireFree(folder);
        String owner =
                "process %s has been training here since %s%n"
                        .formatted(
                                ManagementFactory.getRuntimeMXBean().getName(),
                                TIME.format(LocalDateTime.now(ZoneId.systemDefault())));
        try {
            channel.truncate(0);
            channel.write(UTF_8.encode(owner));
        } catch (IOException e) {
            throw failure(folder, e);
        }
    }

    private void requireFree(RunFolder folder) {
        FileLock lock = null;
        try {
            lock = channel.tryLock(LOCKED_BYTE, 1, /* shared= */ false);
        } catch (OverlappingFileLockException e) {
            // Held in this process; the file says so, too.
        } catch (IOException e) {
            log.warn(
                    "this file system has no locks, so nothing keeps a second training out"
                            + " folder={} cause={}",
                    folder.path(),
                    e.getMessage());
            return;
        }
        if (lock == null) {
            throw SaccadeException.user(
                    "%s: %s; stop it first, or name another folder",
                    folder.path(), owner(folder.lock()));
        }
    }

    private static String owner(Path file) {
        try {
            String owner = Files.readString(file).strip();
            return owner.isEmpty() ? "another process is training here" : owner;
        } catch (IOException e) {
            return "another process is training here";
        }
    }

    private static SaccadeException failure(RunFolder folder, IOException e) {
        return SaccadeException.io(
                e, "%s: cannot be locked for a training: %s", folder.path(), e.getMessage());
    }

    private void close() {
        try {
            channel.close();
        } catch (IOException e) {
            log.warn("the lock of a run could not be given back cause={}", e.getMessage());
        }
    }
}
