package dev.saccade.checkpoint;

import com.google.common.base.Ascii;

import dev.saccade.core.SaccadeException;

import java.nio.BufferUnderflowException;
import java.nio.file.Path;
import java.util.function.Supplier;

/** What readers throw that know what is wrong with a file but not its name. */
final class MalformedException extends RuntimeException {

    private static final long serialVersionUID = 1L;
    private static final int MAX_LENGTH = 500;

    MalformedException(String message) {
        super(message);
    }

    /**
     * Returns what {@code reader} returns; whatever is wrong becomes an error that names the file.
     */
    static <T> T naming(Path file, Supplier<T> reader) {
        try {
            return reader.get();
        } catch (MalformedException e) {
            throw SaccadeException.user(
                    "%s: %s", file, Ascii.truncate(e.getMessage(), MAX_LENGTH, "..."));
        } catch (BufferUnderflowException | ArithmeticException e) {
            throw SaccadeException.user("%s: truncated or damaged", file);
        }
    }
}
