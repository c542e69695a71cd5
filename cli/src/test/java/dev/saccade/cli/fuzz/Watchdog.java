package dev.saccade.cli.fuzz;

import com.sun.management.ThreadMXBean;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;

/** Looks at the time that each input takes, and ends the process where one takes too long. */
final class Watchdog {

    /** The exit code of a process that this has ended. */
    static final int STUCK = 4;

    private static final Duration MAX_WORK = Duration.ofSeconds(5);

    /** Other processes may keep the processor from an input, so waiting may last longer. */
    private static final Duration LONGEST = Duration.ofMinutes(1);

    private static final Duration INTERVAL = Duration.ofMillis(200);

    private final Thread watched;
    private final BiConsumer<byte[], Throwable> report;
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final AtomicReference<byte[]> current = new AtomicReference<>();

    // What the watchdog itself has seen, so that the watched thread need not look at a clock.
    private byte[] seen;
    private long since;
    private long workBefore;

    /**
     * Begins to watch the calling thread.
     *
     * @param report output of an input that takes too long, and where it is
     */
    Watchdog(BiConsumer<byte[], Throwable> report) {
        this.watched = Thread.currentThread();
        this.report = report;
        Thread thread = new Thread(this::run, "watchdog");
        thread.setDaemon(true);
        thread.start();
    }

    /** Notes that the watched thread begins with an input. */
    void enter(byte[] input) {
        current.set(input);
    }

    /** Notes that it is through. */
    void leave() {
        current.set(null);
    }

    private long work() {
        return threads.getThreadCpuTime(watched.getId());
    }

    @SuppressWarnings("BusyWait")
    private void run() {
        try {
            while (true) {
                Thread.sleep(INTERVAL.toMillis());
                look();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void look() {
        byte[] input = current.get();
        if (input != seen) {
            seen = input;
            since = System.nanoTime();
            workBefore = work();
        }
        boolean tooMuch = work() - workBefore > MAX_WORK.toNanos();
        if (input != null && (tooMuch || System.nanoTime() - since > LONGEST.toNanos())) {
            TimeoutException stuck = new TimeoutException("no end after " + MAX_WORK);
            stuck.setStackTrace(watched.getStackTrace());
            report.accept(input, stuck);
            Runtime.getRuntime().halt(STUCK);
        }
    }
}
