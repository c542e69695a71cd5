package dev.saccade.train;

import static java.nio.charset.StandardCharsets.UTF_8;

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
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
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

    /**
     * The folders that this process trains in, and since when. POSIX gives up all locks of a
     * process on a file when any descriptor of the file is closed, so the file of a lock that this
     * process holds must not be touched.
     */
    private static final Map<Path, String> OWN = new HashMap<>();

    private final Path folder;
    private final FileChannel channel;

    private RunLock(Path folder) throws IOException {
        this.folder = folder;
        this.channel =
                FileChannel.open(
                        new RunFolder(folder).lock(),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE);
    }

    /**
     * Returns what is done in the folder of a run, which exists, while nobody else trains there.
     * What killed trainings have left half written is removed first.
     *
     * @throws SaccadeException of kind user that tells which process has the folder, if one has
     */
    static <T> T during(RunFolder folder, Supplier<T> work) {
        RunLock lock = taken(folder, /* hold= */ true).orElseThrow();
        try {
            AtomicFile.removeLeftovers(folder.path());
            AtomicFile.removeLeftovers(folder.checkpoints());
            return work.get();
        } finally {
            lock.giveBack();
        }
    }

    /**
     * Refuses a folder in which a training is under way.
     *
     * @throws SaccadeException of kind user that tells which process has it
     */
    static void requireNone(RunFolder folder) {
        if (Files.exists(folder.lock())) {
            taken(folder, /* hold= */ false);
        }
    }

    /** Takes the lock of a folder, and gives it back at once unless it is to be held. */
    private static Optional<RunLock> taken(RunFolder folder, boolean hold) {
        synchronized (OWN) {
            try {
                Path path = folder.path().toRealPath();
                if (OWN.containsKey(path)) {
                    throw inUse(folder, OWN.get(path));
                }
                RunLock lock = new RunLock(path);
                if (!lock.isFree()) {
                    lock.channel.close();
                    throw inUse(folder, Files.readString(folder.lock()).strip());
                }
                if (hold) {
                    lock.sign();
                    return Optional.of(lock);
                }
                lock.channel.close();
                return Optional.empty();
            } catch (IOException e) {
                throw failure(folder, e);
            }
        }
    }

    private boolean isFree() {
        try {
            return channel.tryLock(LOCKED_BYTE, 1, /* shared= */ false) != null;
        } catch (IOException e) {
            log.warn(
                    "this file system has no locks, so nothing keeps a second training out"
                            + " folder={} cause={}",
                    folder,
                    e.getMessage());
            return true;
        }
    }

    private void sign() throws IOException {
        String owner =
                Text.format(
                        "process %s has been training here since %s",
                        ManagementFactory.getRuntimeMXBean().getName(),
                        TIME.format(LocalDateTime.now(ZoneId.systemDefault())));
        OWN.put(folder, owner);
        channel.truncate(0);
        channel.write(UTF_8.encode(owner + System.lineSeparator()));
    }

    private static SaccadeException inUse(RunFolder folder, String owner) {
        return SaccadeException.user(
                "%s: %s; stop it first, or name another folder",
                folder.path(), owner.isEmpty() ? "another process is training here" : owner);
    }

    private void giveBack() {
        synchronized (OWN) {
            OWN.remove(folder);
            try {
                channel.close();
            } catch (IOException e) {
                log.warn("the lock of a run could not be given back cause={}", e.getMessage());
            }
        }
    }

    private static SaccadeException failure(RunFolder folder, IOException e) {
        return SaccadeException.io(
                e, "%s: cannot be locked for a training: %s", folder.path(), e.getMessage());
    }
}
