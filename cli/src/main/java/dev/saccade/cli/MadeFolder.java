package dev.saccade.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.hash.Hashing;
import com.google.common.io.MoreFiles;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A folder that a command fills with what it makes of photographs. It keeps a list of its files
 * with their sums, by which the next command takes away what this one has left, and nothing else:
 * no file is deleted or overwritten that is not on the list, or is not as it was written.
 */
final class MadeFolder {

    private static final String LIST = ".made_by_saccade_";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path folder;
    private final Path list;

    private MadeFolder(Path folder, String command) {
        this.folder = folder;
        this.list = folder.resolve(LIST + command);
    }

    /** A line of the list: the name of a file, and the SHA-256 of its content. */
    private record Made(String name, String sum) {}

    /** Returns whether a command has filled a folder. */
    static boolean isAt(Path folder) throws IOException {
        try (DirectoryStream<Path> lists = Files.newDirectoryStream(folder, LIST + "*")) {
            return lists.iterator().hasNext();
        }
    }

    /**
     * Returns a folder without what a command has left in it; it is made if need be.
     *
     * @param command which one
     * @throws SaccadeException of kind user, if it holds other files and no list, or if what a
     *     command has left was changed since; then nothing was deleted
     */
    static MadeFolder cleared(Path folder, String command) {
        MadeFolder made = new MadeFolder(folder, command);
        try {
            if (Files.isRegularFile(made.list)) {
                made.clear();
            } else {
                made.requireEmpty();
                Files.createDirectories(folder);
            }
            Files.write(made.list, new byte[0]);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", folder, e.getMessage());
        }
        return made;
    }

    /** Returns a folder that another process of this command has cleared. */
    static MadeFolder shared(Path folder, String command) {
        return new MadeFolder(folder, command);
    }

    private void requireEmpty() {
        PathKind.require(
                folder,
                "a folder that is new, empty or filled by this command before; name another with"
                        + " --out",
                PathKind.NOTHING,
                PathKind.EMPTY_FOLDER);
    }

    private void clear() throws IOException {
        List<Path> left = new ArrayList<>();
        try (Stream<String> lines = Files.lines(list, StandardCharsets.UTF_8)) {
            for (Made file : lines.map(MadeFolder::parse).flatMap(Optional::stream).toList()) {
                Path path = folder.resolve(file.name);
                if (isInside(path) && Files.isRegularFile(path)) {
                    if (!sum(path).equals(file.sum)) {
                        throw SaccadeException.user(
                                "%s: was changed after it was made here; move it away, or name"
                                        + " another folder with --out",
                                path);
                    }
                    left.add(path);
                }
            }
        }
        for (Path path : left) {
            Files.deleteIfExists(path);
        }
    }

    private boolean isInside(Path file) {
        Path top = folder.toAbsolutePath().normalize();
        return file.toAbsolutePath().normalize().startsWith(top);
    }

    /** Returns what a line says; nothing where it breaks off, since its file was not written. */
    private static Optional<Made> parse(String line) {
        try {
            return Optional.of(JSON.readValue(line, Made.class));
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    private static String sum(Path file) throws IOException {
        return MoreFiles.asByteSource(file).hash(Hashing.sha256()).toString();
    }

    /** Returns whether the folder has a file of this name. */
    boolean has(String name) {
        return Files.exists(folder.resolve(name));
    }

    /**
     * Writes a file.
     *
     * @param name relative to the folder; there is none of that name
     */
    void write(String name, byte[] content) {
        Path file = folder.resolve(name);
        try {
            Made made = new Made(name, Hashing.sha256().hashBytes(content).toString());
            Files.writeString(
                    list, JSON.writeValueAsString(made) + "\n", StandardOpenOption.APPEND);
            Files.createDirectories(file.getParent());
            Files.write(file, content, StandardOpenOption.CREATE_NEW);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", file, e.getMessage());
        }
    }

    /** Returns the path of the folder. */
    @Override
    public String toString() {
        return folder.toString();
    }
}
