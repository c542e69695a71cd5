package dev.saccade.datasets.convert.source;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.primitives.Bytes;

import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Reads text files in UTF-8, with or without a byte order mark, of at most 64 MB. */
public final class TextFile {

    private static final int MAX_BYTES = 1 << 26;

    /** A stripped line, with its file and line number. */
    public record Line(String text, String place) {}

    private TextFile() {}

    /** Returns the nonblank lines; throws if the file is too large or not UTF-8. */
    public static List<Line> lines(Path file) {
        List<String> all = text(file).lines().toList();
        List<Line> lines = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            String text = all.get(i).strip();
            if (!text.isEmpty()) {
                lines.add(new Line(text, file + ":" + (i + 1)));
            }
        }
        return lines;
    }

    public static String text(Path file) {
        byte[] bytes;
        try {
            bytes = RegularFile.read(file, MAX_BYTES);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
        ByteBuffer content = ByteBuffer.wrap(bytes);
        CharBuffer text = CharBuffer.allocate(bytes.length);
        boolean isDamaged = UTF_8.newDecoder().decode(content, text, true).isError();
        if (isDamaged || Bytes.contains(bytes, (byte) 0)) {
            byte[] before = Arrays.copyOf(bytes, isDamaged ? content.position() : 0);
            long line = 1 + Bytes.asList(before).stream().filter(b -> b == '\n').count();
            throw SaccadeException.user("%s:%d: not UTF-8 text; save it as UTF-8", file, line);
        }
        String decoded = text.flip().toString();
        return decoded.startsWith("\ufeff") ? decoded.substring(1) : decoded;
    }
}
