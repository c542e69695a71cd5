package dev.saccade.core;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An output folder that gets its name only when it is complete. Files are written to {@code
 * NAME.unfinished}, which is renamed at the end.
 */
public final class OutputFolder implements AutoCloseable {

    /** Unfinished folders that this process created. */
    private static final Set<OutputFolder> UNFINISHED = ConcurrentHashMap.newKeySet();

    private final Path target;
    private final Path work;
    private Optional<FileChannel> lock = Optional.empty();
    private boolean isLinked = true;
    private boolean isFinished;

    private OutputFolder(Path out) {
        try {
            target = real(out.toAbsolutePath());
            work = target.resolveSibling(target.getFileName() + ".unfinished");
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", out, e.getMessage());
        }
    }

    /** Resolves all links; folders at the end of the path need not exist. */
    private static Path real(Path path) throws IOException {
        return Files.exists(path)
                ? path.toRealPath()
                : real(path.getParent()).resolve(path.getFileName()).normalize();
    }

    /**
     * Creates the folder to write to, with an empty file {@code .saccade_WRITER}. Only folders with
     * this file can be replaced.
     *
     * @param out final folder of the files; links are followed
     * @param writer name of the command or program that writes the folder
     * @param overwrite whether to replace a folder of the same writer that is not empty
     * @param inputs files and folders that are read, so the output must not replace them
     * @throws SaccadeException of kind user if the folder must not be replaced, contains an input
     *     or the working directory, or is in an input folder
     */
    public static OutputFolder create(
            Path out, String writer, boolean overwrite, Collection<Path> inputs) {
        checkOutside(out, Path.of(""));
        inputs.forEach(input -> checkOutside(out, input));
        OutputFolder folder = new OutputFolder(out);
        try {
            for (Path input : inputs) {
                if (Files.isDirectory(input) && folder.target.startsWith(input.toRealPath())) {
                    throw SaccadeException.user(
                            "%s: is in the input folder %s; choose another output folder",
                            out, input);
                }
            }
            String marker = ".saccade_" + writer;
            checkFree(folder.target, marker, overwrite);
            folder.start(marker, overwrite);
            UNFINISHED.add(folder);
            return folder;
        } catch (FileAlreadyExistsException e) {
            throw folder.inUse();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", out, e.getMessage());
        }
    }

    /** Creates the unfinished folder, and locks its marker until the process ends. */
    private void start(String marker, boolean overwrite) throws IOException {
        Path file = work.resolve(marker);
        if (Files.exists(file)) {
            if (UNFINISHED.stream().anyMatch(other -> other.work.equals(work)) || isLocked(file)) {
                throw inUse();
            }
            if (!overwrite) {
                throw SaccadeException.user(
                        "%s: the process that wrote this folder was killed; delete the folder",
                        work);
            }
            delete(work);
        }
        checkFree(work, marker, overwrite);
        Files.createDirectories(work);
        FileChannel created =
                FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        tryLock(created);
        lock = Optional.of(created);
    }

    private SaccadeException inUse() {
        return SaccadeException.user(
                        "%s: another process is writing this folder; stop it first, or choose"
                                + " another output folder",
                        work)
                .withSettings("out");
    }

    /** Never call this for a folder of this process: POSIX would release its lock. */
    private static boolean isLocked(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            return !tryLock(channel);
        }
    }

    /** Returns whether nothing else has the lock; true on file systems without locks. */
    private static boolean tryLock(FileChannel channel) {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /** Throws a user error if an input is the output folder or in it. */
    public static void checkOutside(Path out, Path input) {
        try {
            if (Files.exists(out)
                    && Files.exists(input)
                    && input.toRealPath().startsWith(out.toRealPath())) {
                throw SaccadeException.user(
                        "%s: is in the output folder %s; choose another output folder",
                        input.toString().isEmpty() ? "working directory" : input, out);
            }
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", input, e.getMessage());
        }
    }

    private static void checkFree(Path path, String marker, boolean overwrite) throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS) || isEmptyFolder(path)) {
            return;
        }
        if (!overwrite) {
            throw SaccadeException.user(
                            "%s: is not an empty folder; choose another output folder, or"
                                    + " overwrite this folder",
                            path)
                    .withSettings("out", "overwrite");
        }
        if (!Files.exists(path.resolve(marker))) {
            throw SaccadeException.user(
                    "%s: cannot be replaced: it has no file %s, so another program wrote it;"
                            + " choose another output folder",
                    path, marker);
        }
    }

    private static boolean isEmptyFolder(Path path) throws IOException {
        if (!Files.isDirectory(path)) {
            return false;
        }
        try (DirectoryStream<Path> content = Files.newDirectoryStream(path)) {
            return !content.iterator().hasNext();
        }
    }

    private static void delete(Path path) throws IOException {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            MoreFiles.deleteRecursively(path, RecursiveDeleteOption.ALLOW_INSECURE);
        }
    }

    /** Opens the folder that another process creates and finishes. */
    public static OutputFolder join(Path out) {
        OutputFolder folder = new OutputFolder(out);
        folder.isFinished = true;
        return folder;
    }

    /** Returns where to write a file; the path is valid until {@link #finish}. */
    public Path resolve(String name) {
        return work.resolve(name);
    }

    /** Writes a new file, completely or not at all. */
    public void write(String name, byte[] content) {
        try (OutputStream file = create(name)) {
            file.write(content);
        } catch (IOException e) {
            Path file = work.resolve(name);
            file.toFile().delete();
            throw SaccadeException.io(e, "%s: cannot be written: %s", file, e.getMessage());
        }
    }

    public OutputStream create(String name) {
        Path file = work.resolve(name);
        try {
            Files.createDirectories(file.getParent());
            return Files.newOutputStream(file, StandardOpenOption.CREATE_NEW);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", file, e.getMessage());
        }
    }

    /** Adds a hard link to a file, or a copy if the file system does not support links. */
    public void add(String name, Path file) {
        Path copy = work.resolve(name);
        try {
            Files.createDirectories(copy.getParent());
            isLinked = isLinked && link(copy, file.toRealPath());
            if (!isLinked) {
                Files.copy(file, copy);
            }
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be copied: %s", file, e.getMessage());
        }
    }

    private static boolean link(Path link, Path file) {
        try {
            Files.createLink(link, file);
            return true;
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    /** Returns whether all files were added as links. */
    public boolean isLinked() {
        return isLinked;
    }

    /** Closes the marker, because Windows neither moves nor deletes open files. */
    private void unlock() throws IOException {
        if (lock.isPresent()) {
            lock.get().close();
        }
    }

    /** Moves the files to their final place and deletes the previous content. */
    public void finish() {
        isFinished = true;
        UNFINISHED.remove(this);
        try {
            unlock();
            Path old = Files.createTempDirectory(target.getParent(), target.getFileName() + ".old");
            if (Files.exists(target)) {
                Files.move(target, old.resolve(target.getFileName()));
            }
            Files.move(work, target);
            delete(old);
        } catch (IOException e) {
            throw SaccadeException.io(
                    e, "%s: cannot be replaced: %s; the results are in %s", target, e, work);
        }
    }

    /** Deletes all unfinished folders of this process, which must end afterwards. */
    public static void discardUnfinished() {
        UNFINISHED.forEach(OutputFolder::close);
    }

    /** Deletes the files unless the folder was {@linkplain #finish() finished}. */
    @Override
    public void close() {
        if (!isFinished) {
            UNFINISHED.remove(this);
            try {
                unlock();
                delete(work);
            } catch (IOException e) {
                throw SaccadeException.io(e, "%s: cannot be deleted: %s", work, e.getMessage());
            }
        }
    }
}
