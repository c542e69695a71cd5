package dev.saccade.cli;

import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

import java.time.Duration;

/**
 * A progress bar on stderr: drawn over itself in a terminal, which the launcher tells by {@code
 * -Dsaccade.terminal}, a line now and then in a log.
 */
final class Progress implements AutoCloseable {

    private static final int WIDTH = 110;
    private static final int TERMINAL_MILLIS = 200;
    private static final int LOG_MILLIS = 15_000;

    private final ProgressBar bar;

    /**
     * Starts a bar.
     *
     * @param task what is done, such as {@code evaluate}
     * @param total how much there is to do; -1 where that is not known
     * @param unit what is counted, with a blank in front
     */
    Progress(String task, long total, String unit) {
        this(task, 0, total, unit);
    }

    /** Starts a bar of which a part was done before. */
    Progress(String task, long done, long total, String unit) {
        boolean terminal = Boolean.getBoolean("saccade.terminal");
        bar =
                new ProgressBarBuilder()
                        .setTaskName(task)
                        .setInitialMax(total)
                        .setUnit(unit, 1)
                        .startsFrom(done, Duration.ZERO)
                        .setStyle(ProgressBarStyle.ASCII)
                        .setUpdateIntervalMillis(terminal ? TERMINAL_MILLIS : LOG_MILLIS)
                        .setConsumer(
                                terminal
                                        ? new ConsoleProgressBarConsumer(System.err, WIDTH)
                                        : new DelegatingProgressBarConsumer(
                                                System.err::println, WIDTH))
                        .build();
    }

    /** Writes a line above the bar. */
    static void say(String line) {
        System.err.printf("\r%-" + WIDTH + "s%n", line);
    }

    /** Says how much is done in all. */
    void to(long done) {
        bar.stepTo(done);
    }

    /** Says that one more is done. */
    void step() {
        bar.step();
    }

    /** Says something in a few words behind the bar. */
    void note(String text) {
        bar.setExtraMessage(text);
    }

    @Override
    public void close() {
        bar.close();
    }
}
