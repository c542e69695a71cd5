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
 * <p>The file is not memory-mapped, as accessing a truncated mapping kills the process. Every byte
 * range is read on opening and again later: headers at the end of opening, tensors on use. Equal
 * checksums prove that the range did not change. The file stays open while a range is referenced.
 */
public final class CheckpointFile {

    static final long MAX_RANGE = 1L << 30;

    private static final int CHUNK = 1 << 18;

    private final Path path;
    private final FileChannel channel;
    private final long size;
    private final ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK);
    private final List<ByteRange> headers = new ArrayList<>();

    private CheckpointFile(Path path, FileChannel channel) throws IOException {
        this.path = path;
        this.channel = channel;
        this.size = channel.size();
    }

    /**
     * Opens a file and returns the result of a reader.
     *
     * @throws SaccadeException of kind user, if the file is missing or malformed; of kind I/O, if
     *     it cannot be read or changes meanwhile
     */
    public static <T> T read(Path path, Function<CheckpointFile, T> reader) {
        if (Files.isDirectory(path)) {
            throw SaccadeException.user(
                    "%s: is a folder; expected a checkpoint file, such as"
                            + " checkpoints/best.safetensors of a run",
                    path);
        }
        if (!Files.isRegularFile(path)) {
            throw SaccadeException.user("%s: no such file", path);
        }
        try {
            FileChannel channel = FileChannel.open(path);
            try {
                CheckpointFile file = new CheckpointFile(path, channel);
                T content = MalformedException.withFileName(path, () -> reader.apply(file));
                file.headers.forEach(ByteRange::verify);
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

    /** Reads bytes that describe tensors; returns a little-endian buffer. */
    public ByteBuffer header(long offset, long length) {
        check(offset, length);
        ByteBuffer bytes = ByteBuffer.allocate((int) length).order(ByteOrder.LITTLE_ENDIAN);
        CRC32C crc = new CRC32C();
        fill(bytes, offset, crc);
        headers.add(new ByteRange(offset, length, crc.getValue()));
        return bytes.flip();
    }

    /** Returns a byte range, which is read now for a checksum, and again on use. */
    public ByteRange range(long offset, long length) {
        return range(offset, length, new CRC32C());
    }

    /** Returns a byte range as {@link #range(long, long)} does; also updates {@code sum}. */
    ByteRange range(long offset, long length, CRC32C sum) {
        check(offset, length);
        CRC32C crc = new CRC32C();
        updateChecksums(offset, length, crc, sum);
        return new ByteRange(offset, length, crc.getValue());
    }

    private void check(long offset, long length) {
        if (offset < 0 || length < 0 || length > size || offset > size - length) {
            throw new MalformedException(
                    "truncated: expected %d bytes at offset %d, but the file has %d bytes",
                    length, offset, size);
        }
        if (length > MAX_RANGE) {
            throw new MalformedException("a tensor of more than 1 GiB is not supported");
        }
    }

    private void updateChecksums(long offset, long length, CRC32C... sums) {
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
                "%s: changed while it was read; load it again when it is complete, and replace"
                        + " checkpoints by renaming, not in place",
                path);
    }

    /** A byte range of the file, read on use. */
    public final class ByteRange implements TensorBytes {

        private final long offset;
        private final long length;
        private final long crc;

        private ByteRange(long offset, long length, long crc) {
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

        private void verify() {
            CRC32C now = new CRC32C();
            updateChecksums(offset, length, now);
            check(now);
        }

        private void check(CRC32C now) {
            if (now.getValue() != crc) {
                throw changed();
            }
        }
    }
}
