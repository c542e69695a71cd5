package dev.saccade.tune;

import dev.saccade.core.Text;

/** Formats durations. */
final class Durations {

    private Durations() {}

    /** Returns seconds as text, such as {@code 42 s}, {@code 12 min} or {@code 2.5 h}. */
    static String text(double seconds) {
        if (seconds < 100) {
            return Text.format("%.0f s", seconds);
        }
        return seconds < 6000
                ? Text.format("%.0f min", seconds / 60)
                : Text.format("%.1f h", seconds / 3600);
    }
}
