package dev.saccade.core;

/** Shows the progress of a long task. */
public interface ProgressBar extends AutoCloseable {

    /** Shows no progress. */
    Factory NONE = new TaskMonitor(progress -> {});

    /** Sets the number of finished steps. */
    void to(long done);

    /** Adds a finished step. */
    void step();

    @Override
    void close();

    @FunctionalInterface
    interface Factory {

        /** Opens a bar; a negative total means unknown. Example of a unit: {@code " images"}. */
        ProgressBar open(String task, long total, String unit);
    }
}
