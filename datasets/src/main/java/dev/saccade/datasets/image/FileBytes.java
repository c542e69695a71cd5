package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SeekableByteChannel;

/** Bytes of a file at any position; checks lengths before it allocates memory. */
final class FileBytes implements Closeable {

    private static final int MAX_LENGTH = Integer.MAX_VALUE - 64;

    private final SeekableByteChannel channel;
    private final long size;

    FileBytes(SeekableByteChannel channel) throws IOException {
        this.channel = channel;
        size = channel.size();
    }

    long size() {
        return size;
    }

    /** Returns bytes of the file; throws an {@link IllegalArgumentException} if outside of it. */
    ByteBuffer read(long position, long length, ByteOrder order) {
        require(position, length);
        checkArgument(length <= MAX_LENGTH, "a part of it has %s bytes", length);
        ByteBuffer bytes = ByteBuffer.allocate((int) length).order(order);
        read(position, bytes);
        return bytes.flip();
    }

    void require(long position, long length) {
        checkArgument(
                position >= 0 && length >= 0 && length <= size && position <= size - length,
                "it points outside of the file");
    }

    private void read(long position, ByteBuffer target) {
        try {
            channel.position(position);
            while (target.hasRemaining()) {
                if (channel.read(target) < 0) {
                    throw new EOFException("it has become shorter");
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
