package dev.saccade.cli.fuzz;

import java.io.IOException;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What has become of the inputs of each target, in a file that outlives the process that counts.
 */
final class Tally {

    /** What is counted of a target. */
    enum Column {
        /** Inputs that were let in or are about to be. */
        BEGUN,
        ACCEPTED,
        REFUSED,
        FAILED,
        NANOS,
        /** The most heap that was allocated for one. */
        MAX_BYTES
    }

    private static final int COLUMNS = Column.values().length;

    private final LongBuffer counts;

    private Tally(LongBuffer counts) {
        this.counts = counts;
    }

    /** Opens a file, new or begun by another process. */
    static Tally open(Path file, int targets) throws IOException {
        try (FileChannel channel =
                FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            long bytes = (long) targets * COLUMNS * Long.BYTES;
            return new Tally(channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes).asLongBuffer());
        }
    }

    long get(int target, Column column) {
        return counts.get(place(target, column));
    }

    void set(int target, Column column, long value) {
        counts.put(place(target, column), value);
    }

    @SuppressWarnings("EnumOrdinal") // the file lives no longer than a run
    private static int place(int target, Column column) {
        return target * COLUMNS + column.ordinal();
    }

    void add(int target, Column column, long value) {
        set(target, column, get(target, column) + value);
    }

    /** Returns whether an input was begun and nothing has become of it. */
    boolean isOpen(int target) {
        return get(target, Column.BEGUN)
                > get(target, Column.ACCEPTED)
                        + get(target, Column.REFUSED)
                        + get(target, Column.FAILED);
    }
}
