package dev.saccade.checkpoint;

import com.google.common.base.Ascii;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import java.nio.BufferUnderflowException;
import java.nio.file.Path;
import java.util.function.Supplier;

/** Thrown for malformed files by readers that do not know the file name. */
public final class MalformedException extends RuntimeException {

    private static final long serialVersionUID = 1L;
    private static final int MAX_LENGTH = 500;

    @FormatMethod
    public MalformedException(@FormatString String message, Object... args) {
        super(Text.format(message, args));
    }

    /** Returns the result of a reader; adds the file name to its errors. */
    static <T> T withFileName(Path file, Supplier<T> reader) {
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
