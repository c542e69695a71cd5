package dev.saccade.cli.terminal;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Optional;

/** Standard output that remembers write errors, which {@link PrintStream} hides. */
public final class StandardOutput extends OutputStream {

    private static final String CLOSED_READER = "Broken pipe";

    private final OutputStream target = new FileOutputStream(FileDescriptor.out);
    private Optional<String> failure = Optional.empty();

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        try {
            target.write(bytes, offset, length);
        } catch (IOException e) {
            failure = failure.or(() -> Optional.ofNullable(e.getMessage()));
            throw e;
        }
    }

    /** Returns the first error. A closed pipe, such as {@code | head}, is not an error. */
    public Optional<String> failure() {
        return failure.filter(reason -> !reason.equals(CLOSED_READER));
    }
}
