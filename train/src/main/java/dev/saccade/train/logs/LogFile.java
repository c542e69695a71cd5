package dev.saccade.train.logs;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A text file that grows by whole lines, each on disk when the call returns. */
final class LogFile implements AutoCloseable {

    private final Path file;
    private final Writer writer;

    /** Opens a file to append to, and makes it where it does not exist. */
    LogFile(Path file) {
        this.file = file;
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            writer =
                    Files.newBufferedWriter(
                            file, UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw failure(e);
        }
    }

    void line(String text) {
        try {
            writer.write(text);
            writer.write('\n');
            writer.flush();
        } catch (IOException e) {
            throw failure(e);
        }
    }

    @Override
    public void close() {
        try {
            writer.close();
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private SaccadeException failure(IOException e) {
        return SaccadeException.io(e, "%s: cannot write the log: %s", file, e.getMessage());
    }
}
