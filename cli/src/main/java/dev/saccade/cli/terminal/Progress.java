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
 * A progress bar on stderr: drawn over itself in a terminal, which the launcher tells by {@code
 * -Dsaccade.terminal}, a line now and then in a log. Where it is not known how much there is to do,
 * it counts what is done. The time that is left is told by what came after the first step, which
 * takes longer than others.
 */
public final class Progress implements dev.saccade.core.ProgressBar {

    private static final int WIDTH = 110;
    private static final int TERMINAL_MILLIS = 200;
    private static final int LOG_MILLIS = 15_000;

    private final ProgressBar bar;
    private volatile Optional<FirstStep> first = Optional.empty();

    /** How much was done after the first step, and when, in nanoseconds. */
    private record FirstStep(long done, long end) {

        Duration remaining(long doneNow, long total) {
            double each = (double) (System.nanoTime() - end) / (doneNow - done);
            return Duration.ofNanos((long) (each * (total - doneNow)));
        }
    }

    /**
     * Starts a bar.
     *
     * @param task what is done, such as {@code evaluate}
     * @param total how much there is to do; -1 where that is not known
     * @param unit what is counted, with a blank in front
     */
    public Progress(String task, long total, String unit) {
        this(task, 0, total, unit);
    }

    /** Starts a bar of which a part was done before. */
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
                        .setConsumer(isTerminal() ? drawnOver() : new LogLines());
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

    private Optional<Duration> remaining(ProgressState state) {
        return state.getCurrent() >= state.getMax()
                ? Optional.of(Duration.ZERO)
                : first.filter(step -> state.getCurrent() > step.done)
                        .map(step -> step.remaining(state.getCurrent(), state.getMax()));
    }

    /** Prints the last line, if it tells more than the first, and some before, ever fewer. */
    private static final class LogLines implements ProgressBarConsumer {

        private static final Duration MOST_BETWEEN = Duration.ofMinutes(5);

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
            // The bar comes a little early at times.
            if (elapsed.plusMillis(LOG_MILLIS / 10).compareTo(due) >= 0) {
                print();
                due = elapsed.plus(between(elapsed));
            }
        }

        private static Duration between(Duration elapsed) {
            Duration tenth = elapsed.dividedBy(10);
            return tenth.compareTo(MOST_BETWEEN) < 0 ? tenth : MOST_BETWEEN;
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

    /** Writes a line above the bar. */
    public static void say(String line) {
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

    /** Says something in a few words behind the bar. */
    public void note(String text) {
        bar.setExtraMessage(text);
    }

    @Override
    public void close() {
        bar.close();
    }
}
