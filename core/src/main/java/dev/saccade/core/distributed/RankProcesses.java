package dev.saccade.core.distributed;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Runs ranks as processes on this machine. If a rank fails, the others get some time to report the
 * failure and are then terminated. Rank 0 uses the terminal; the others write {@link RankLog}s.
 */
public final class RankProcesses {

    /** Default grace time; longer than ranks need to find out why another one does not respond. */
    public static final Duration GRACE = Duration.ofSeconds(15);

    private final Path logs;
    private final Duration grace;
    private final List<Process> processes = new ArrayList<>();
    private boolean stopped;

    /**
     * Creates a launcher.
     *
     * @param logs folder of the logs, created if necessary
     * @param grace time from the first failure to SIGTERM for the other ranks, and then to SIGKILL
     */
    public RankProcesses(Path logs, Duration grace) {
        this.logs = logs;
        this.grace = grace;
    }

    private record Rank(int number, Process process, Optional<RankLog> log) {

        void addOnExit(BlockingQueue<Rank> ended) {
            var unused = process.onExit().thenRun(() -> ended.add(this));
        }
    }

    /**
     * Starts ranks with additional environment variables and waits until all have ended. Returns
     * the failure that caused the others, if any.
     */
    public Optional<RankFailure> run(List<String> command, List<Map<String, String>> environments) {
        BlockingQueue<Rank> ended = new LinkedBlockingQueue<>();
        try {
            for (Map<String, String> variables : environments) {
                start(command, variables).ifPresent(rank -> rank.addOnExit(ended));
            }
            return await(ended);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while ranks run", e);
        } finally {
            endAll(Process::destroyForcibly);
            forget();
        }
    }

    private synchronized Optional<Rank> start(List<String> command, Map<String, String> variables) {
        if (stopped) {
            return Optional.empty();
        }
        int number = Integer.parseInt(variables.get(RankEnvironment.RANK));
        Optional<RankLog> log =
                number == 0 ? Optional.empty() : Optional.of(RankLog.start(logs, number));
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        log.ifPresent(
                to ->
                        builder.redirectInput(Redirect.PIPE)
                                .redirectErrorStream(true)
                                .redirectOutput(Redirect.appendTo(to.file().toFile())));
        builder.environment().putAll(variables);
        try {
            Process process = builder.start();
            processes.add(process);
            return Optional.of(new Rank(number, process, log));
        } catch (IOException e) {
            throw SaccadeException.io(e, "rank %d cannot be started: %s", number, e.getMessage());
        }
    }

    private Optional<RankFailure> await(BlockingQueue<Rank> ended) throws InterruptedException {
        List<RankFailure> failures = new ArrayList<>();
        int left = running();
        while (left > 0 && failures.isEmpty()) {
            failure(ended.take()).ifPresent(failures::add);
            left--;
        }
        if (left > 0) {
            List<Rank> found = await(grace, ended, left);
            found.forEach(rank -> failure(rank).ifPresent(failures::add));
            left -= found.size();
        }
        if (left > 0) {
            endAll(Process::destroy);
            left -= await(grace, ended, left).size();
        }
        if (left > 0) {
            endAll(Process::destroyForcibly);
            await(grace, ended, left);
        }
        return failures.isEmpty()
                ? Optional.empty()
                : Optional.of(RankFailure.rootFailure(failures));
    }

    /** Waits until all ranks have ended or the time is up; returns the ended ranks. */
    private static List<Rank> await(Duration time, BlockingQueue<Rank> ended, int all)
            throws InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        List<Rank> found = new ArrayList<>();
        while (found.size() < all) {
            Rank rank = ended.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (rank == null) {
                break;
            }
            found.add(rank);
        }
        return found;
    }

    private Optional<RankFailure> failure(Rank rank) {
        RankFailure end = new RankFailure(rank.number, rank.process.exitValue(), rank.log);
        boolean isExpected = end.exitCode() == 0 || (isStopped() && end.isInterruption());
        return isExpected ? Optional.empty() : Optional.of(end);
    }

    private synchronized int running() {
        return processes.size();
    }

    private synchronized void endAll(Consumer<Process> means) {
        processes.forEach(means);
    }

    private synchronized void forget() {
        processes.clear();
    }

    /** Ends all ranks gracefully and starts no more. */
    public synchronized void stop() {
        if (!stopped) {
            stopped = true;
            endAll(Process::destroy);
        }
    }

    public synchronized boolean isStopped() {
        return stopped;
    }
}
