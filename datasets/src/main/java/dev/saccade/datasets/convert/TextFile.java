package dev.saccade.datasets.convert;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CoderResult;
import java.nio.file.Path;
import java.util.List;

/** Text files of labels: UTF-8 of a size that labels have, with or without a byte order mark. */
final class TextFile {

    private static final int MOST_BYTES = 1 << 26;
    private static final String BYTE_ORDER_MARK = "\ufeff";

    private TextFile() {}

    /**
     * Returns the lines of a file; any of the usual ends of lines is one.
     *
     * @throws SaccadeException if it is missing, too large or not UTF-8; names file and line
     */
    static List<String> lines(Path file) {
        return text(file).lines().toList();
    }

    /** Returns the content of a file; see {@link #lines}. */
    static String text(Path file) {
        byte[] bytes;
        try {
            bytes = RegularFile.read(file, MOST_BYTES);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
        ByteBuffer content = ByteBuffer.wrap(bytes);
        CharBuffer text = CharBuffer.allocate(bytes.length);
        CoderResult result = UTF_8.newDecoder().decode(content, text, /* endOfInput= */ true);
        if (result.isError() || hasZero(bytes)) {
            throw SaccadeException.user(
                    "%s:%d: no text in UTF-8, expected that; save it so",
                    file, line(bytes, result.isError() ? content.position() : 0));
        }
        String decoded = text.flip().toString();
        return decoded.startsWith(BYTE_ORDER_MARK) ? decoded.substring(1) : decoded;
    }

    private static boolean hasZero(byte[] bytes) {
        for (byte b : bytes) {
            if (b == 0) {
                return true;
            }
        }
        return false;
    }

    private static int line(byte[] bytes, int position) {
        int line = 1;
        for (int i = 0; i < position; i++) {
            line += bytes[i] == '\n' ? 1 : 0;
        }
        return line;
    }
}
