package dev.saccade.config;

/**
 * Origin of a config value.
 *
 * @param source such as a file name, {@code --set} or {@code default}
 * @param line 1-based line of the key; 0 if the source has no lines
 * @param column 1-based column of the key; 0 if the source has no lines
 */
public record Origin(String source, int line, int column) {

    public static final Origin DEFAULT = new Origin("default", 0, 0);

    /** Returns {@code source:line}, which editors and terminals turn into a link. */
    @Override
    public String toString() {
        return line == 0 ? source : source + ":" + line;
    }
}
