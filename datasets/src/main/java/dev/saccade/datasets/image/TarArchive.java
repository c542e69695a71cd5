package dev.saccade.datasets.image;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarFile;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Regular files in an uncompressed tar archive, read in place. A path such as {@code
 * images.tar/1.jpg} names a file in an archive; see {@link ImageReader#readBytes}.
 *
 * <p>Lengths in the archive are not trusted: memory is allocated only for files that are inside of
 * the archive and below the size limit of images.
 */
public final class TarArchive {

    /** Position of a file in its archive. */
    public record Entry(long offset, int size) {}

    private record State(long size, FileTime modified) {}

    private static final String SUFFIX = ".tar";
    private static final int BLOCK = 512;
    private static final int RECORD = 20 * BLOCK;

    private static final Cache<Path, TarArchive> OPEN =
            CacheBuilder.newBuilder().softValues().build();

    private final Path file;
    private final State state;
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final List<String> faults = new ArrayList<>();

    private TarArchive(Path file, State state) {
        this.file = file;
        this.state = state;
    }

    /**
     * Reads the names and positions of all files; the archive is read again only if it changes.
     *
     * @throws SaccadeException if the archive is missing, damaged or compressed
     */
    public static TarArchive open(Path archive) {
        Path file = archive.toAbsolutePath().normalize();
        try {
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            if (!attributes.isRegularFile()) {
                throw SaccadeException.user("%s: is not a file, expected a tar archive", archive);
            }
            State state = new State(attributes.size(), attributes.lastModifiedTime());
            TarArchive open = OPEN.getIfPresent(file);
            if (open == null || !open.state.equals(state)) {
                open = new TarArchive(archive, state);
                open.index();
                OPEN.put(file, open);
            }
            return open;
        } catch (NoSuchFileException e) {
            throw SaccadeException.user("%s: no such file", archive);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", archive, e.getMessage());
        }
    }

    /** Returns the archive that contains a path, such as {@code a.tar} of {@code a.tar/b/1.jpg}. */
    public static Optional<Path> containing(Path path) {
        for (Path parent = path.getParent(); parent != null; parent = parent.getParent()) {
            Path name = parent.getFileName();
            if (name != null && name.toString().endsWith(SUFFIX) && Files.isRegularFile(parent)) {
                return Optional.of(parent);
            }
        }
        return Optional.empty();
    }

    /** Returns whether a path is a regular file, or a file in an archive. */
    public static boolean isFile(Path path) {
        if (Files.isRegularFile(path)) {
            return true;
        }
        return sizeInArchive(path).isPresent();
    }

    /** Returns the number of bytes of a file in an archive; empty for other paths. */
    public static OptionalInt sizeInArchive(Path path) {
        Optional<Path> archive = containing(path);
        Entry entry =
                archive.isEmpty()
                        ? null
                        : open(archive.get()).entries.get(name(archive.get(), path));
        return entry == null ? OptionalInt.empty() : OptionalInt.of(entry.size);
    }

    private void index() throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            List<TarArchiveEntry> headers = headers(channel);
            long end = 0;
            for (TarArchiveEntry header : headers) {
                end = header.getDataOffset() + header.getSize();
                if (header.getSize() < 0 || end < 0 || end > state.size) {
                    throw damaged(header.getName() + " ends after the end of the archive");
                }
                add(header);
            }
            requireEnd(channel, (end + BLOCK - 1) / BLOCK * BLOCK);
        }
    }

    private List<TarArchiveEntry> headers(FileChannel channel) {
        // The channel closes the archive.
        try {
            return new TarFile(channel, RECORD, BLOCK, StandardCharsets.UTF_8.name(), false)
                    .getEntries();
        } catch (IOException | RuntimeException e) {
            throw damaged(String.valueOf(e.getMessage()));
        }
    }

    /** Requires the empty block after the last file, which a truncated archive lacks. */
    private void requireEnd(FileChannel channel, long position) throws IOException {
        boolean isEmpty = false;
        if (position + BLOCK <= state.size) {
            ByteBuffer block = ByteBuffer.allocate(BLOCK);
            fill(block, channel, position);
            isEmpty = block.flip().equals(ByteBuffer.allocate(BLOCK));
        }
        if (!isEmpty) {
            throw damaged("its end is missing");
        }
    }

    private SaccadeException damaged(String fault) {
        return SaccadeException.user(
                "%s: is not an uncompressed tar archive, or is truncated or damaged (%s); copy or"
                        + " download it again, or decompress it",
                file, fault);
    }

    private void add(TarArchiveEntry header) {
        if (header.isDirectory()) {
            return;
        }
        String name = header.getName();
        Optional<String> fault = fault(header);
        String clean = name.replaceAll("(^|/)(\\./)+", "$1");
        if (fault.isEmpty() && entries.containsKey(clean)) {
            fault = Optional.of("occurs twice; rename one of the files");
        }
        if (fault.isPresent()) {
            faults.add(name + ": " + fault.get());
        } else {
            entries.put(clean, new Entry(header.getDataOffset(), (int) header.getSize()));
        }
    }

    private static Optional<String> fault(TarArchiveEntry header) {
        String name = header.getName();
        if (header.isLink() || header.isSymbolicLink()) {
            return Optional.of("is a link; archive the file instead (tar --dereference)");
        } else if (header.isFIFO()
                || header.isCharacterDevice()
                || header.isBlockDevice()
                || header.isSparse()) {
            return Optional.of("is a device, a pipe or a sparse file, expected a regular file");
        } else if (header.getSize() > ImageReader.MAX_BYTES) {
            return Optional.of(
                    Text.format(
                            "has %d bytes, expected at most %d",
                            header.getSize(), ImageReader.MAX_BYTES));
        }
        return isSafe(name)
                ? Optional.empty()
                : Optional.of("has an absolute path or \"..\", expected a relative path");
    }

    private static boolean isSafe(String name) {
        try {
            return !name.isEmpty()
                    && !name.startsWith("/")
                    && name.indexOf('\\') < 0
                    && !Path.of(name).isAbsolute()
                    && !List.of(name.split("/")).contains("..");
        } catch (InvalidPathException e) {
            return false;
        }
    }

    /** Returns the files by name, in the order of the archive. */
    public Map<String, Entry> entries() {
        return Collections.unmodifiableMap(entries);
    }

    /** Returns one message per rejected file: links, unsafe or repeated names, and huge files. */
    public List<String> faults() {
        return Collections.unmodifiableList(faults);
    }

    /** Reads a file by its path, which starts with the path of its archive. */
    static byte[] read(Path archive, Path path) throws IOException {
        TarArchive open = open(archive);
        String name = name(archive, path);
        Entry entry = open.entries.get(name);
        if (entry == null) {
            throw SaccadeException.user(
                    "%s: no such file; %s has %s",
                    path, archive, Count.of(open.entries.size(), "file"));
        }
        return open.read(entry);
    }

    private static String name(Path archive, Path path) {
        Path relative = archive.relativize(path);
        List<String> parts = new ArrayList<>();
        relative.forEach(part -> parts.add(part.toString()));
        return String.join("/", parts);
    }

    /** Reads the content of a file. */
    public byte[] read(Entry entry) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(entry.size);
        try (FileChannel channel = FileChannel.open(file)) {
            fill(content, channel, entry.offset);
        }
        return content.array();
    }

    private static void fill(ByteBuffer buffer, FileChannel channel, long position)
            throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, position + buffer.position()) < 0) {
                throw new EOFException("the archive has become shorter");
            }
        }
    }
}
