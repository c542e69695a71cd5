package dev.saccade.models.checkpoint;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A file of any size mapped into memory, in windows that overlap by half: every stretch of up to 1
 * GiB lies within one. The mapping lasts as long as something refers to a piece of it.
 */
final class MappedFile {

    static final long MAX_SLICE = 1L << 30;

    private final long size;
    private final List<ByteBuffer> windows = new ArrayList<>();

    private MappedFile(FileChannel channel) throws IOException {
        this.size = channel.size();
        for (long start = 0; start < size; start += MAX_SLICE) {
            long length = Math.min(size - start, 2 * MAX_SLICE - 1);
            windows.add(channel.map(FileChannel.MapMode.READ_ONLY, start, length));
        }
    }

    static MappedFile open(Path file) {
        if (Files.isDirectory(file)) {
            throw SaccadeException.user(
                    "%s: is a folder; expected a file, such as checkpoints/best.safetensors of a"
                            + " run",
                    file);
        }
        if (!Files.isRegularFile(file)) {
            throw SaccadeException.user("%s: there is no such file", file);
        }
        try (FileChannel channel = FileChannel.open(file)) {
            return new MappedFile(channel);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    long size() {
        return size;
    }

    /** Returns the little-endian bytes of a stretch. */
    ByteBuffer slice(long offset, long length) {
        if (offset < 0 || length < 0 || length > size || offset > size - length) {
            throw new MalformedException(
                    String.format(
                            "truncated: %d bytes at %d are beyond its end at %d",
                            length, offset, size));
        }
        if (length > MAX_SLICE) {
            throw new MalformedException("a single piece of more than 1 GiB");
        }
        if (length == 0) {
            return ByteBuffer.allocate(0).order(ByteOrder.LITTLE_ENDIAN);
        }
        int window = (int) (offset / MAX_SLICE);
        return windows.get(window)
                .slice((int) (offset - window * MAX_SLICE), (int) length)
                .order(ByteOrder.LITTLE_ENDIAN);
    }
}
