package dev.saccade.report;

import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;

/** Reads a regular text file; rejects lines above a maximum length. */
public final class BoundedLines extends FilterInputStream {

    private final Path file;
    private final int maxBytes;
    private long line = 1;
    private int length;

    private BoundedLines(InputStream content, Path file, int maxBytes) {
        super(content);
        this.file = file;
        this.maxBytes = maxBytes;
    }

    /**
     * Opens a file; rejects pipes, sockets and devices as user errors. {@code maxBytes} limits each
     * line.
     */
    public static InputStream open(Path file, int maxBytes) throws IOException {
        return new BoundedLines(RegularFile.open(file), file, maxBytes);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] bytes, int start, int count) throws IOException {
        int read = in.read(bytes, start, count);
        for (int i = start; i < start + read; i++) {
            if (bytes[i] == '\n') {
                line++;
                length = 0;
            } else if (++length > maxBytes) {
                throw SaccadeException.user(
                        "%s: line %d has more than %d bytes", file, line, maxBytes);
            }
        }
        return read;
    }
}
