package dev.saccade.core;

/** Shows the progress of a long task. */
public interface ProgressBar extends AutoCloseable {

    /** Sets the number of finished steps. */
    void to(long done);

    /** Adds a finished step. */
    void step();

    @Override
    void close();

    /** Opens progress bars. */
    @FunctionalInterface
    interface Factory {

        /**
         * Opens a bar.
         *
         * @param total number of steps; negative if unknown
         * @param unit such as {@code " images"}
         */
        ProgressBar open(String task, long total, String unit);
    }
}
