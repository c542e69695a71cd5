package dev.saccade.cli.predictions;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.convert.ConvertedFolder;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A folder that is filled in {@code NAME.unfinished}, beside the one that it takes the place of
 * when all is there. A second command is kept out meanwhile. Whenever the process is killed, the
 * old folder or the new one is whole, and the next command takes away what was left.
 */
public final class UnfinishedFolder implements ConvertedFolder, AutoCloseable {

    /** Begins the name of the file that is locked, and tells such a folder from others. */
    private static final String LOCK = ".unfinished_by_saccade_";

    private final Path wanted;
    private final String command;
    private final Path work;
    private final Path lockFile;
    private final Path made;
    private final Path replaced;
    private final FileChannel lock;
    private final MadeFolder content;
    private boolean isLinking = true;
    private boolean isLinked;

    /**
     * Starts an empty folder.
     *
     * @param out the folder that it takes the place of, or a link to it; new, empty or made by the
     *     same command
     * @param source what it is made of, which lies elsewhere
     * @throws SaccadeException of kind user, if there is something else, or a process that fills it
     */
    public UnfinishedFolder(Path out, Path source, String command) {
        try {
            this.wanted = real(out);
            requireApart(out, source);
            MadeFolder.requireReplaceable(wanted, command);
            this.command = command;
            this.work = wanted.resolveSibling(wanted.getFileName() + ".unfinished");
            this.lockFile = work.resolve(LOCK + command);
            this.made = work.resolve("made");
            this.replaced = work.resolve("replaced");
            this.lock = lock();
            this.content = started();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", out, e.getMessage());
        }
    }

    /** Returns where a folder is or will be, whatever links lead there. */
    private static Path real(Path folder) throws IOException {
        Path path = folder.toAbsolutePath();
        if (Files.isSymbolicLink(path) && !Files.exists(path)) {
            throw SaccadeException.user(
                    "%s: is a link to what is not there; make that, or name another folder with"
                            + " --out",
                    folder);
        }
        return Files.exists(path)
                ? path.toRealPath()
                : real(path.getParent()).resolve(path.getFileName()).normalize();
    }

    private void requireApart(Path out, Path source) throws IOException {
        Path real = source.toRealPath();
        if (wanted.startsWith(real) || real.startsWith(wanted)) {
            throw SaccadeException.user(
                    "--out %s: lies in the folder that is converted, or that in it; name one beside"
                            + " it",
                    out);
        }
    }

    private FileChannel lock() throws IOException {
        if (!Files.exists(lockFile)) {
            PathKind.require(
                    work,
                    "nothing here, or what is left of this command; move it away, or name another"
                            + " folder with --out",
                    PathKind.NOTHING,
                    PathKind.EMPTY_FOLDER);
        }
        Files.createDirectories(work);
        FileChannel channel =
                FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        if (!isFree(channel)) {
            channel.close();
            throw SaccadeException.user(
                    "%s: is being filled by another %s; wait for its end, or name another folder"
                            + " with --out",
                    wanted, command);
        }
        return channel;
    }

    private boolean isFree(FileChannel channel) {
        try {
            FileLock taken = channel.tryLock();
            // Who had it may have ended and taken the file away after it was opened here.
            return taken != null && Files.exists(lockFile);
        } catch (OverlappingFileLockException e) {
            return false;
        } catch (IOException e) {
            // A file system without locks keeps nobody out.
            return true;
        }
    }

    private MadeFolder started() throws IOException {
        try {
            putBack();
            MadeFolder.requireReplaceable(made, command);
            MadeFolder.requireReplaceable(replaced, command);
            MadeFolder.delete(made, command);
            MadeFolder.delete(replaced, command);
            return MadeFolder.cleared(made, command);
        } catch (IOException | SaccadeException e) {
            lock.close();
            throw e;
        }
    }

    /** Puts the old folder back, if the new one has not come in its place. */
    private void putBack() throws IOException {
        if (Files.exists(replaced) && !Files.exists(wanted, LinkOption.NOFOLLOW_LINKS)) {
            Files.move(replaced, wanted);
        }
    }

    @Override
    public OutputStream create(String name) {
        return content.stream(name);
    }

    /** Links a file, so that it takes no room; copies it where that cannot be. */
    @Override
    public void take(String name, Path file) {
        isLinking = isLinking && content.link(name, file);
        isLinked = isLinking;
        if (!isLinking) {
            content.copy(name, file);
        }
    }

    /** Returns whether photographs were linked, not copied. */
    public boolean isLinked() {
        return isLinked;
    }

    /** Puts the folder where it is wanted; what the command had left there before is deleted. */
    public void finish() {
        try {
            if (Files.exists(wanted)) {
                MadeFolder.requireReplaceable(wanted, command);
                Files.move(wanted, replaced);
            }
            Files.move(made, wanted);
        } catch (IOException e) {
            throw SaccadeException.io(
                    e, "%s: cannot be moved to %s: %s", made, wanted, e.getMessage());
        }
    }

    /** Takes away what is not finished, or what was replaced. */
    @Override
    public void close() {
        try {
            putBack();
            MadeFolder.delete(made, command);
            MadeFolder.delete(replaced, command);
            lock.close();
            Files.deleteIfExists(lockFile);
            Files.deleteIfExists(work);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be taken away: %s", work, e.getMessage());
        }
    }
}
