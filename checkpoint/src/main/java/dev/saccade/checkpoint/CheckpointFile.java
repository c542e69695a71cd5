package dev.saccade.checkpoint;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.zip.CRC32C;

/**
 * A file of any size that other processes may truncate or overwrite at any time.
 *
 * <p>The file is not mapped: access to a mapped page that no longer exists kills the process. Each
 * stretch is read when the file is opened and again later: descriptions at the end of opening,
 * tensors when they are used. Equal checksums prove that the content did not change in between. The
 * file stays open as long as a stretch of it is referenced.
 */
public final class CheckpointFile {

    static final long MAX_STRETCH = 1L << 30;

    private static final int CHUNK = 1 << 18;

    private final Path path;
    private final FileChannel channel;
    private final long size;
    private final ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK);
    private final List<Stretch> descriptions = new ArrayList<>();

    private CheckpointFile(Path path, FileChannel channel) throws IOException {
        this.path = path;
        this.channel = channel;
        this.size = channel.size();
    }

    /**
     * Returns what a reader makes of a file.
     *
     * @throws SaccadeException of kind user, if there is no such file or the reader finds it
     *     malformed; of kind I/O, if it cannot be read or changes meanwhile
     */
    public static <T> T read(Path path, Function<CheckpointFile, T> reader) {
        if (Files.isDirectory(path)) {
            throw SaccadeException.user(
                    "%s: is a folder; expected a file, such as checkpoints/best.safetensors of a"
                            + " run",
                    path);
        }
        if (!Files.isRegularFile(path)) {
            throw SaccadeException.user("%s: there is no such file", path);
        }
        try {
            FileChannel channel = FileChannel.open(path);
            try {
                CheckpointFile file = new CheckpointFile(path, channel);
                T content = MalformedException.naming(path, () -> reader.apply(file));
                file.descriptions.forEach(Stretch::lookAgain);
                return content;
            } catch (IOException | RuntimeException e) {
                channel.close();
                throw e;
            }
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", path, e.getMessage());
        }
    }

    public long size() {
        return size;
    }

    /** Returns the little-endian bytes of a stretch that describes tensors. */
    public ByteBuffer description(long offset, long length) {
        check(offset, length);
        ByteBuffer bytes = ByteBuffer.allocate((int) length).order(ByteOrder.LITTLE_ENDIAN);
        CRC32C crc = new CRC32C();
        fill(bytes, offset, crc);
        descriptions.add(new Stretch(offset, length, crc.getValue()));
        return bytes.flip();
    }

    /** Returns a stretch of which the bytes are wanted later. */
    public Stretch stretch(long offset, long length) {
        return stretch(offset, length, new CRC32C());
    }

    /**
     * Returns a stretch of which the bytes are wanted later.
     *
     * @param sum takes up its bytes now
     */
    Stretch stretch(long offset, long length, CRC32C sum) {
        check(offset, length);
        CRC32C crc = new CRC32C();
        pass(offset, length, crc, sum);
        return new Stretch(offset, length, crc.getValue());
    }

    private void check(long offset, long length) {
        if (offset < 0 || length < 0 || length > size || offset > size - length) {
            throw new MalformedException(
                    "truncated: %d bytes at %d are beyond its end at %d", length, offset, size);
        }
        if (length > MAX_STRETCH) {
            throw new MalformedException("a single piece of more than 1 GiB");
        }
    }

    /** Reads bytes for nothing but their checksums. */
    private void pass(long offset, long length, CRC32C... sums) {
        for (long done = 0; done < length; done += CHUNK) {
            chunk.clear().limit((int) Math.min(CHUNK, length - done));
            fill(chunk, offset + done, sums);
        }
    }

    private void fill(ByteBuffer target, long offset, CRC32C... sums) {
        int start = target.position();
        try {
            while (target.hasRemaining()) {
                int length = Math.min(CHUNK, target.remaining());
                ByteBuffer piece = target.slice(target.position(), length);
                int read = channel.read(piece, offset + target.position() - start);
                if (read < 0) {
                    throw changed();
                }
                target.position(target.position() + read);
                for (CRC32C sum : sums) {
                    sum.update(piece.flip());
                }
            }
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", path, e.getMessage());
        }
    }

    private SaccadeException changed() {
        return SaccadeException.io(
                null,
                "%s: changed while it was read; load it again once it is whole, and replace"
                        + " checkpoints by renaming, not in place",
                path);
    }

    /** Consecutive bytes of the file, which are read when they are asked for. */
    public final class Stretch implements TensorBytes {

        private final long offset;
        private final long length;
        private final long crc;

        private Stretch(long offset, long length, long crc) {
            this.offset = offset;
            this.length = length;
            this.crc = crc;
        }

        @Override
        public long length() {
            return length;
        }

        @Override
        public ByteBuffer get() {
            ByteBuffer bytes = ByteBuffer.allocate((int) length);
            copyTo(bytes);
            return bytes.flip();
        }

        @Override
        public void copyTo(ByteBuffer target) {
            CRC32C now = new CRC32C();
            fill(target.slice(target.position(), (int) length), offset, now);
            target.position(target.position() + (int) length);
            check(now);
        }

        private void lookAgain() {
            CRC32C now = new CRC32C();
            pass(offset, length, now);
            check(now);
        }

        private void check(CRC32C now) {
            if (now.getValue() != crc) {
                throw changed();
            }
        }
    }
}
