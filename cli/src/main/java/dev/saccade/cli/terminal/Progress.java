package dev.saccade.cli.terminal;

import com.google.common.base.Stopwatch;

import dev.saccade.core.Printable;

import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarConsumer;
import me.tongfei.progressbar.ProgressBarStyle;
import me.tongfei.progressbar.ProgressState;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/**
 * A progress bar on stderr, or occasional lines if {@code -Dsaccade.terminal} is not set. The
 * estimate of the remaining time excludes the slow first step.
 */
public final class Progress implements dev.saccade.core.ProgressBar {

    private static final int WIDTH = 110;
    private static final int TERMINAL_MILLIS = 200;
    private static final int LOG_MILLIS = 15_000;

    private final ProgressBar bar;
    private volatile Optional<FirstStep> first = Optional.empty();

    /** The state after the first step; {@code end} in nanoseconds. */
    private record FirstStep(long done, long end) {

        Duration remaining(long doneNow, long total) {
            double each = (double) (System.nanoTime() - end) / (doneNow - done);
            return Duration.ofNanos((long) (each * (total - doneNow)));
        }
    }

    /** Starts a bar; {@code total} is -1 if unknown, and the unit starts with a space. */
    public Progress(String task, long total, String unit) {
        this(task, 0, total, unit);
    }

    /** Starts a bar with {@code done} finished steps. */
    public Progress(String task, long done, long total, String unit) {
        ProgressBarBuilder builder =
                new ProgressBarBuilder()
                        .setTaskName(task)
                        .setInitialMax(total)
                        .setUnit(unit, 1)
                        .startsFrom(done, Duration.ZERO)
                        .setStyle(ProgressBarStyle.ASCII)
                        .setEtaFunction(this::remaining)
                        .setUpdateIntervalMillis(isTerminal() ? TERMINAL_MILLIS : LOG_MILLIS)
                        .setConsumer(isTerminal() ? terminalConsumer() : new LogLines());
        if (total < 0) {
            builder.setRenderer((state, width) -> task + "  " + state.getCurrent() + unit);
        }
        bar = builder.build();
    }

    private static boolean isTerminal() {
        return Boolean.getBoolean("saccade.terminal");
    }

    private static ProgressBarConsumer terminalConsumer() {
        return new ConsoleProgressBarConsumer(System.err, WIDTH);
    }

    private Optional<Duration> remaining(ProgressState state) {
        return state.getCurrent() >= state.getMax()
                ? Optional.of(Duration.ZERO)
                : first.filter(step -> state.getCurrent() > step.done)
                        .map(step -> step.remaining(state.getCurrent(), state.getMax()));
    }

    /** Prints the last line and intermediate lines at growing intervals. */
    private static final class LogLines implements ProgressBarConsumer {

        private static final Duration MAX_INTERVAL = Duration.ofMinutes(5);

        private final Stopwatch time = Stopwatch.createStarted();
        private Duration due = Duration.ofMillis(LOG_MILLIS);
        private String last = "";
        private boolean isPrinted = true;

        @Override
        public int getMaxRenderedLength() {
            return WIDTH;
        }

        @Override
        public void accept(String line) {
            isPrinted &= last.isEmpty() || line.equals(last);
            last = line;
            Duration elapsed = time.elapsed();
            // The bar may update slightly early.
            if (elapsed.plusMillis(LOG_MILLIS / 10).compareTo(due) >= 0) {
                print();
                due = elapsed.plus(between(elapsed));
            }
        }

        private static Duration between(Duration elapsed) {
            Duration tenth = elapsed.dividedBy(10);
            return tenth.compareTo(MAX_INTERVAL) < 0 ? tenth : MAX_INTERVAL;
        }

        @Override
        public void close() {
            print();
        }

        private void print() {
            if (!isPrinted) {
                System.err.println(last.stripTrailing());
                isPrinted = true;
            }
        }
    }

    /** Prints a line above the bar. */
    public static void println(String line) {
        String shown = Printable.line(line);
        if (isTerminal()) {
            System.err.printf(Locale.ROOT, "\r%-" + WIDTH + "s%n", shown);
        } else {
            System.err.println(shown);
        }
    }

    @Override
    public void to(long done) {
        bar.stepTo(done);
        markFirst();
    }

    @Override
    public void step() {
        bar.step();
        markFirst();
    }

    private void markFirst() {
        if (first.isEmpty()) {
            first = Optional.of(new FirstStep(bar.getCurrent(), System.nanoTime()));
        }
    }

    /** Shows a short text after the bar. */
    public void note(String text) {
        bar.setExtraMessage(text);
    }

    @Override
    public void close() {
        bar.close();
    }
}
