package dev.saccade.train.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.temporal.ChronoUnit.SECONDS;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Locks a run folder against a second training run. The lock is released when the run or its
 * process ends; the lock file remains.
 */
public final class RunLock {

    private static final Logger log = LoggerFactory.getLogger(RunLock.class);

    /** Position after the text, so that other processes can read the text of a locked file. */
    private static final long LOCKED_BYTE = Long.MAX_VALUE - 1;

    /**
     * Lock owners in this process, by folder. POSIX releases a file's locks when the process closes
     * any descriptor of the file, so never open a lock file that this process has locked.
     */
    private static final Map<Path, String> OWNERS = new HashMap<>();

    private final Path folder;
    private final FileChannel channel;

    private RunLock(RunFolder run) {
        synchronized (OWNERS) {
            try {
                folder = run.path().toRealPath();
                if (OWNERS.containsKey(folder)) {
                    throw inUse(run, OWNERS.get(folder));
                }
                channel =
                        FileChannel.open(
                                run.lock(), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                if (!isFree()) {
                    channel.close();
                    throw inUse(run, Files.readString(run.lock()).strip());
                }
                String owner =
                        Text.format(
                                "process %s has been training here since %s",
                                ManagementFactory.getRuntimeMXBean().getName(),
                                LocalDateTime.now(ZoneId.systemDefault()).truncatedTo(SECONDS));
                OWNERS.put(folder, owner);
                channel.truncate(0);
                channel.write(UTF_8.encode(owner + System.lineSeparator()));
            } catch (IOException e) {
                throw SaccadeException.io(
                        e, "%s: cannot be locked: %s", run.path(), e.getMessage());
            }
        }
    }

    /**
     * Runs {@code work} while holding the lock of its run folder, after deleting incomplete files
     * left by killed runs.
     */
    public static <T> T runLocked(RunFolder folder, Supplier<T> work) {
        RunLock lock = new RunLock(folder);
        try {
            AtomicFile.removeTemporaryFiles(folder.path());
            AtomicFile.removeTemporaryFiles(folder.checkpoints());
            return work.get();
        } finally {
            lock.release();
        }
    }

    /** Rejects a folder that a training process uses; the error names the process. */
    public static void requireUnlocked(RunFolder folder) {
        if (Files.exists(folder.lock())) {
            new RunLock(folder).release();
        }
    }

    private boolean isFree() {
        try {
            return channel.tryLock(LOCKED_BYTE, 1, /* shared= */ false) != null;
        } catch (IOException e) {
            log.warn(
                    "the file system has no locks; do not start a second training run in"
                            + " this folder folder={} cause={}",
                    folder,
                    e.getMessage());
            return true;
        }
    }

    private static SaccadeException inUse(RunFolder folder, String owner) {
        return SaccadeException.user(
                "%s: %s; stop it first, or choose another folder",
                folder.path(), owner.isEmpty() ? "another process is training here" : owner);
    }

    private void release() {
        synchronized (OWNERS) {
            OWNERS.remove(folder);
            try {
                channel.close();
            } catch (IOException e) {
                log.warn("the lock of a run could not be released cause={}", e.getMessage());
            }
        }
    }
}
