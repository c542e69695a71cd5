package dev.saccade.config;

/**
 * Where a value of a config comes from.
 *
 * @param source a file, {@code --set} or {@code default}
 * @param line line of the key, counted from 1; 0 where the source has no lines
 * @param column column of the key, counted from 1; 0 where the source has no lines
 */
public record Origin(String source, int line, int column) {

    /** The origin of values that nobody wrote. */
    public static final Origin DEFAULT = new Origin("default", 0, 0);

    /** Returns {@code source:line}, which editors and terminals turn into a link. */
    @Override
    public String toString() {
        return line == 0 ? source : source + ":" + line;
    }
}
