package dev.saccade.core.distributed;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;

/** Log file of a rank without a terminal; restarts append to it. */
public record RankLog(Path file) {

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT);

    /** Prefix of status lines, which are never the reason for a failure. */
    public static final String START = "=== ";

    private static final int TAIL_BYTES = 1 << 16;

    /** Opens the log of a rank and writes a start line. */
    static RankLog start(Path folder, int rank) {
        Path file = folder.resolve(rank + ".log");
        String now = LocalDateTime.now(ZoneId.systemDefault()).format(TIME);
        try {
            Files.createDirectories(folder);
            Files.writeString(
                    file,
                    Text.format("%srank %d starts, %s%n", START, rank, now),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", file, e.getMessage());
        }
        return new RankLog(file);
    }

    /** Returns the last line not indented like a stack trace; empty if this is a status line. */
    Optional<String> lastLine() {
        try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "r")) {
            content.seek(Math.max(0, content.length() - TAIL_BYTES));
            byte[] tail = new byte[(int) (content.length() - content.getFilePointer())];
            content.readFully(tail);
            return new String(tail, UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !Character.isWhitespace(line.charAt(0)))
                    .reduce((before, last) -> last)
                    .filter(line -> !line.startsWith(START));
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
