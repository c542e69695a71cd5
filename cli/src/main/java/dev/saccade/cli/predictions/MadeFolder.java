package dev.saccade.cli.predictions;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.HashMultiset;
import com.google.common.collect.Lists;
import com.google.common.collect.Multiset;
import com.google.common.hash.Hashing;
import com.google.common.hash.HashingOutputStream;
import com.google.common.io.MoreFiles;

import dev.saccade.core.SaccadeException;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A folder that a command fills with what it makes of photographs. It keeps a list of its files
 * with their sums, by which the next command takes away what this one has left, and nothing else:
 * no file is deleted or overwritten that is not on the list, or is not as it was written.
 */
public final class MadeFolder {

    private static final String LIST = ".made_by_saccade_";

    /** Stands for the sum of a file that is a hard link to another, with which it changes. */
    private static final String LINKED = "linked";

    private static final String UNFINISHED = "";
    private static final Set<String> NOT_CHECKED = Set.of(LINKED, UNFINISHED);

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
    public static MadeFolder cleared(Path folder, String command) {
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
    public static MadeFolder shared(Path folder, String command) {
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
        for (Path path : unchanged()) {
            Files.deleteIfExists(path);
        }
    }

    /**
     * Returns the files on the list that are there; refuses those that were changed since, or would
     * be lost.
     */
    private List<Path> unchanged() throws IOException {
        List<Path> left = new ArrayList<>();
        List<Path> linked = new ArrayList<>();
        try (Stream<String> lines = Files.lines(list, StandardCharsets.UTF_8)) {
            Map<String, String> sums = new LinkedHashMap<>();
            lines.map(MadeFolder::parse)
                    .flatMap(Optional::stream)
                    .forEach(made -> sums.put(made.name, made.sum));
            for (Map.Entry<String, String> made : sums.entrySet()) {
                Path path = folder.resolve(made.getKey());
                if (isInside(path) && Files.isRegularFile(path)) {
                    boolean isChecked = !NOT_CHECKED.contains(made.getValue());
                    if (isChecked && !sum(path).equals(made.getValue())) {
                        throw SaccadeException.user(
                                "%s: was changed after it was made here; move it away, or name"
                                        + " another folder with --out",
                                path);
                    }
                    left.add(path);
                    if (made.getValue().equals(LINKED)) {
                        linked.add(path);
                    }
                }
            }
        }
        requireElsewhere(linked);
        return left;
    }

    /** Refuses linked files that the disk has nowhere else: they would be lost with the folder. */
    private void requireElsewhere(List<Path> linked) throws IOException {
        Multiset<Object> namesHere = HashMultiset.create();
        for (Path path : linked) {
            namesHere.add(Files.getAttribute(path, "unix:fileKey"));
        }
        for (Path path : linked) {
            int names = (int) Files.getAttribute(path, "unix:nlink");
            if (names <= namesHere.count(Files.getAttribute(path, "unix:fileKey"))) {
                throw SaccadeException.user(
                        "%s: is nowhere else any more: it was replaced, or what it was linked from"
                                + " is gone; move %s away, or name another folder with --out",
                        path, folder);
            }
        }
    }

    private static String sum(Path file) throws IOException {
        return MoreFiles.asByteSource(file).hash(Hashing.sha256()).toString();
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

    /**
     * Refuses a folder that another is to take the place of, unless it is new, empty, or holds what
     * a command has left in it and nothing else.
     *
     * @throws SaccadeException of kind user that says what else there is
     */
    static void requireReplaceable(Path folder, String command) {
        MadeFolder made = new MadeFolder(folder, command);
        if (!Files.isRegularFile(made.list)) {
            made.requireEmpty();
            return;
        }
        try (Stream<Path> content = Files.walk(folder)) {
            Set<Path> own = new HashSet<>(made.unchanged());
            own.add(made.list);
            Optional<Path> other =
                    content.filter(path -> !Files.isDirectory(path, NOFOLLOW_LINKS))
                            .filter(path -> !own.contains(path))
                            .findFirst();
            if (other.isPresent()) {
                throw SaccadeException.user(
                        "%s: was not made by this command, which would take it away with the rest"
                                + " of %s; move it away, or name another folder with --out",
                        other.get(), folder);
            }
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", folder, e.getMessage());
        }
    }

    /**
     * Deletes a folder that is {@linkplain #requireReplaceable replaceable}, if it is there. Its
     * list goes last, so that the next can go on where this one was killed.
     */
    static void delete(Path folder, String command) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        Path list = new MadeFolder(folder, command).list;
        List<Path> inside;
        try (Stream<Path> all = Files.walk(folder)) {
            inside = all.filter(path -> !path.equals(folder) && !path.equals(list)).toList();
        }
        for (Path path : Lists.reverse(inside)) {
            Files.delete(path);
        }
        Files.deleteIfExists(list);
        Files.delete(folder);
    }

    /** Returns whether the folder has a file of this name. */
    boolean has(String name) {
        return Files.exists(folder.resolve(name));
    }

    /**
     * Writes a file, whole or not at all.
     *
     * @param name relative to the folder; there is none of that name
     */
    public void write(String name, byte[] content) {
        Path file = folder.resolve(name);
        try {
            begin(file, name);
            create(file, content);
            append(name, Hashing.sha256().hashBytes(content).toString());
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", file, e.getMessage());
        }
    }

    private static void create(Path file, byte[] content) throws IOException {
        try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW)) {
            out.write(content);
        } catch (IOException e) {
            Files.deleteIfExists(file);
            throw e;
        }
    }

    /** Puts a file on the list before it is made; never one of somebody else. */
    private void begin(Path file, String name) throws IOException {
        if (Files.exists(file, NOFOLLOW_LINKS)) {
            throw new FileAlreadyExistsException(file.toString());
        }
        append(name, UNFINISHED);
        Files.createDirectories(file.getParent());
    }

    /**
     * Returns a file that is written as it comes. Until it is closed, the next command takes it
     * away whatever it holds.
     *
     * @param name relative to the folder; there is none of that name
     */
    OutputStream stream(String name) {
        Path file = folder.resolve(name);
        try {
            begin(file, name);
            HashingOutputStream content =
                    new HashingOutputStream(
                            Hashing.sha256(),
                            Files.newOutputStream(file, StandardOpenOption.CREATE_NEW));
            return new FilterOutputStream(content) {
                @Override
                public void write(byte[] bytes, int from, int count) throws IOException {
                    out.write(bytes, from, count);
                }

                @Override
                public void close() throws IOException {
                    super.close();
                    append(name, content.hash().toString());
                }
            };
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", file, e.getMessage());
        }
    }

    private void append(String name, String sum) throws IOException {
        // In a line of its own, also where a full disk has cut the one before.
        String line = "\n" + JSON.writeValueAsString(new Made(name, sum)) + "\n";
        Files.writeString(list, line, StandardOpenOption.APPEND);
    }

    /**
     * Adds another name of a file, which takes no room.
     *
     * @param name relative to the folder; there is none of that name
     * @return whether the disk has links, and counts the names of a file: else nobody could tell
     *     whether the last one goes with the folder
     */
    boolean link(String name, Path file) {
        Path link = folder.resolve(name);
        if (!link.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            return false;
        }
        try {
            append(name, LINKED);
            Files.createDirectories(link.getParent());
            Files.createLink(link, file.toRealPath());
            return true;
        } catch (IOException | UnsupportedOperationException e) {
            // Another file system, or one without links.
            return false;
        }
    }

    /**
     * Adds a copy of a file.
     *
     * @param name relative to the folder; there is none of that name
     */
    void copy(String name, Path file) {
        try (OutputStream copy = stream(name)) {
            Files.copy(file, copy);
        } catch (IOException e) {
            throw SaccadeException.io(
                    e, "%s: cannot be copied to %s: %s", file, folder, e.getMessage());
        }
    }

    /** Returns the path of the folder. */
    @Override
    public String toString() {
        return folder.toString();
    }
}
