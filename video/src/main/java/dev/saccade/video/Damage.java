package dev.saccade.video;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Ranges of frames that may be damaged: from an error to the next key frame. */
final class Damage {

    private static final int SHOWN = 5;

    private record Range(long first, long last) {

        @Override
        public String toString() {
            return first == last ? String.valueOf(first) : first + " to " + last;
        }
    }

    private final List<Range> ranges = new ArrayList<>();
    private long frames;
    private long lastKey;
    private long open = -1;
    private long damaged;

    /** Counts the next frame in display order; a key frame after all damage ends a range. */
    void frame(boolean isKey) {
        if (isKey) {
            if (open >= 0 && frames > damaged) {
                ranges.add(new Range(open, frames - 1));
                open = -1;
            }
            lastKey = frames;
        }
        frames++;
    }

    /**
     * Starts a range of damaged frames, or extends the current range.
     *
     * @param frame damaged or missing frame; may be ahead of the counted frames
     * @param reorder number of frames displayed before {@code frame} that may refer to it
     */
    void start(long frame, int reorder) {
        damaged = Math.max(damaged, frame);
        if (open < 0) {
            long first = Math.max(frame - reorder, lastKey <= frame ? lastKey : 0);
            long free = ranges.isEmpty() ? 0 : ranges.get(ranges.size() - 1).last + 1;
            open = Math.max(first, free);
        }
    }

    /** Returns the damaged frames, such as {@code frames 31 to 39, 52}; empty if there are none. */
    Optional<String> text() {
        List<Range> all = new ArrayList<>(ranges);
        if (open >= 0 && open < frames) {
            all.add(new Range(open, frames - 1));
        }
        if (all.isEmpty()) {
            return Optional.empty();
        }
        String shown =
                all.stream().limit(SHOWN).map(Range::toString).collect(Collectors.joining(", "));
        int more = all.size() - SHOWN;
        boolean single = all.size() == 1 && all.get(0).first == all.get(0).last;
        return Optional.of(
                (single ? "frame " : "frames ")
                        + shown
                        + (more > 0 ? " and " + more + " more ranges" : ""));
    }
}
