package dev.saccade.train.logs;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A text file, written line by line. If the disk is full, fails without a partial line. */
abstract class LogFile implements LogWriter {

    private final Path file;
    private final FileChannel channel;

    /** Opens a file to append to. Ends an incomplete line of a killed process. */
    LogFile(Path file) {
        this.file = file;
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            channel =
                    FileChannel.open(
                            file,
                            StandardOpenOption.CREATE,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE);
            channel.position(channel.size());
            if (!endsWithLine()) {
                line("");
            }
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private boolean endsWithLine() throws IOException {
        ByteBuffer last = ByteBuffer.allocate(1);
        return channel.size() == 0
                || (channel.read(last, channel.size() - 1) == 1 && last.get(0) == '\n');
    }

    final void line(String text) {
        try {
            long before = channel.position();
            try {
                ByteBuffer line = UTF_8.encode(text + '\n');
                while (line.hasRemaining()) {
                    channel.write(line);
                }
            } catch (IOException e) {
                channel.truncate(before);
                throw e;
            }
        } catch (IOException e) {
            throw failure(e);
        }
    }

    @Override
    public final void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private SaccadeException failure(IOException e) {
        return SaccadeException.io(e, "%s: cannot write the log: %s", file, e.getMessage());
    }
}
