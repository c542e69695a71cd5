package dev.saccade.cli;

import com.google.common.hash.Hashing;
import com.google.common.hash.HashingOutputStream;
import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.convert.ConvertedFolder;

import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A folder that is filled beside the one that it takes the place of when all is there. What is left
 * of an interrupted command is called {@code NAME.unfinished}, and the next one starts it anew.
 */
final class UnfinishedFolder implements ConvertedFolder, AutoCloseable {

    private final Path wanted;
    private final String command;
    private final Path folder;
    private final Path list;
    private final Writer listed;
    private int links;
    private int copies;
    private boolean isFinished;

    /**
     * Starts an empty folder.
     *
     * @param wanted the folder that it takes the place of; new, empty or made by the same command
     * @throws SaccadeException of kind user, if there is something else
     */
    UnfinishedFolder(Path wanted, String command) {
        MadeFolder.requireReplaceable(wanted, command);
        this.wanted = wanted;
        this.command = command;
        Path name = wanted.toAbsolutePath().normalize();
        this.folder = name.resolveSibling(name.getFileName() + ".unfinished");
        this.list = MadeFolder.list(folder, command);
        try {
            if (Files.isRegularFile(list)) {
                delete(folder);
            } else if (Files.exists(folder)) {
                throw SaccadeException.user(
                        "%s: is there, but not what is left of this command; move it away, or name"
                                + " another folder with --out",
                        folder);
            }
            Files.createDirectories(folder);
            listed = Files.newBufferedWriter(list, StandardOpenOption.CREATE_NEW);
        } catch (IOException e) {
            throw unwritten(e);
        }
    }

    private SaccadeException unwritten(IOException e) {
        return SaccadeException.io(e, "%s: cannot be written: %s", folder, e.getMessage());
    }

    private static void delete(Path folder) throws IOException {
        MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
    }

    private Path place(String name) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        return file;
    }

    @Override
    public OutputStream create(String name) {
        try {
            HashingOutputStream content =
                    new HashingOutputStream(
                            Hashing.sha256(),
                            new BufferedOutputStream(
                                    Files.newOutputStream(
                                            place(name), StandardOpenOption.CREATE_NEW)));
            return new FilterOutputStream(content) {
                private boolean isClosed;

                @Override
                public void write(byte[] bytes, int start, int length) throws IOException {
                    out.write(bytes, start, length);
                }

                @Override
                public void close() throws IOException {
                    super.close();
                    if (!isClosed) {
                        listed.write(MadeFolder.line(name, content.hash().toString()));
                        isClosed = true;
                    }
                }
            };
        } catch (IOException e) {
            throw unwritten(e);
        }
    }

    /** Links a file, so that it takes no room; copies it where that cannot be. */
    @Override
    public void take(String name, Path file) {
        try {
            Path place = place(name);
            String sum = MadeFolder.LINKED;
            if (!link(place, file.toRealPath())) {
                Files.copy(file, place);
                sum = MadeFolder.sum(place);
            }
            listed.write(MadeFolder.line(name, sum));
        } catch (IOException e) {
            throw unwritten(e);
        }
    }

    private boolean link(Path place, Path file) {
        if (copies == 0) {
            try {
                Files.createLink(place, file);
                links++;
                return true;
            } catch (IOException | UnsupportedOperationException e) {
                // Another file system, or one without links: this one and all others are copied.
            }
        }
        copies++;
        return false;
    }

    /** Returns whether photographs were linked, not copied. */
    boolean isLinked() {
        return copies == 0 && links > 0;
    }

    /** Puts the folder where it is wanted; what the command had left there before is deleted. */
    void finish() {
        try {
            listed.close();
            MadeFolder.requireReplaceable(wanted, command);
            if (Files.exists(wanted)) {
                delete(wanted);
            }
            Files.move(folder, wanted);
            isFinished = true;
        } catch (IOException e) {
            throw SaccadeException.io(
                    e,
                    "%s: cannot be moved to %s, all of it is there: %s",
                    folder,
                    wanted,
                    e.getMessage());
        }
    }

    /** Takes away what is not finished. */
    @Override
    public void close() {
        try {
            listed.close();
            if (!isFinished && Files.isRegularFile(list)) {
                delete(folder);
            }
        } catch (IOException e) {
            throw unwritten(e);
        }
    }
}
