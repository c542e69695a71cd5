package dev.saccade.cli.fuzz;

import java.io.IOException;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** What has become of the inputs of each door, in a file that outlives the process that counts. */
final class Tally {

    /** What is counted of a door. */
    enum Column {
        /** Inputs that were let in or are about to be. */
        BEGUN,
        ACCEPTED,
        REFUSED,
        FAILED,
        NANOS,
        /** The most heap that was allocated for one. */
        MOST_BYTES
    }

    private static final int COLUMNS = Column.values().length;

    private final LongBuffer counts;

    private Tally(LongBuffer counts) {
        this.counts = counts;
    }

    /** Opens a file, new or begun by another process. */
    static Tally open(Path file, int doors) throws IOException {
        try (FileChannel channel =
                FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            long bytes = (long) doors * COLUMNS * Long.BYTES;
            return new Tally(channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes).asLongBuffer());
        }
    }

    long get(int door, Column column) {
        return counts.get(place(door, column));
    }

    void set(int door, Column column, long value) {
        counts.put(place(door, column), value);
    }

    @SuppressWarnings("EnumOrdinal") // the file lives no longer than a run
    private static int place(int door, Column column) {
        return door * COLUMNS + column.ordinal();
    }

    void add(int door, Column column, long value) {
        set(door, column, get(door, column) + value);
    }

    /** Returns whether an input was begun and nothing has become of it. */
    boolean isOpen(int door) {
        return get(door, Column.BEGUN)
                > get(door, Column.ACCEPTED) + get(door, Column.REFUSED) + get(door, Column.FAILED);
    }
}
