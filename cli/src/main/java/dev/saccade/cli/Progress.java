package dev.saccade.cli;

import dev.saccade.core.Printable;

import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarConsumer;
import me.tongfei.progressbar.ProgressBarStyle;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A progress bar on stderr: drawn over itself in a terminal, which the launcher tells by {@code
 * -Dsaccade.terminal}, a line now and then in a log. Where it is not known how much there is to do,
 * it counts what is done.
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
        ProgressBarBuilder builder =
                new ProgressBarBuilder()
                        .setTaskName(task)
                        .setInitialMax(total)
                        .setUnit(unit, 1)
                        .startsFrom(done, Duration.ZERO)
                        .setStyle(ProgressBarStyle.ASCII)
                        .setUpdateIntervalMillis(isTerminal() ? TERMINAL_MILLIS : LOG_MILLIS)
                        .setConsumer(isTerminal() ? drawnOver() : line());
        if (total < 0) {
            builder.setRenderer((state, width) -> task + "  " + state.getCurrent() + unit);
        }
        bar = builder.build();
    }

    private static boolean isTerminal() {
        return Boolean.getBoolean("saccade.terminal");
    }

    private static ProgressBarConsumer drawnOver() {
        return new ConsoleProgressBarConsumer(System.err, WIDTH);
    }

    private static ProgressBarConsumer line() {
        AtomicReference<String> last = new AtomicReference<>();
        return new DelegatingProgressBarConsumer(
                line -> {
                    if (!line.equals(last.getAndSet(line))) {
                        System.err.println(line.stripTrailing());
                    }
                },
                WIDTH);
    }

    /** Writes a line above the bar. */
    static void say(String line) {
        String shown = Printable.line(line);
        if (isTerminal()) {
            System.err.printf("\r%-" + WIDTH + "s%n", shown);
        } else {
            System.err.println(shown);
        }
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
