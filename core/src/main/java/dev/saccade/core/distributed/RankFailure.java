package dev.saccade.core.distributed;

import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Unexpected end of a rank.
 *
 * @param exitCode 128 plus the signal number, if killed by a signal
 * @param log empty for the rank that uses the terminal
 */
public record RankFailure(int rank, int exitCode, Optional<RankLog> log) {

    private static final int USER_ERROR = SaccadeException.Kind.USER.exitCode();
    private static final int IO_ERROR = SaccadeException.Kind.IO.exitCode();

    /** Exit codes of processes ended by Ctrl-C or SIGTERM. */
    private static final List<Integer> INTERRUPTED = List.of(130, 143);

    private static final int SIGNALS = 128;

    /** Names of signals that commonly end a process. */
    private static final Map<Integer, String> NAMES =
            Map.of(
                    1, "SIGHUP",
                    2, "SIGINT",
                    4, "SIGILL",
                    6, "SIGABRT",
                    7, "SIGBUS",
                    8, "SIGFPE",
                    9, "SIGKILL, possibly out of memory",
                    11, "SIGSEGV",
                    15, "SIGTERM");

    /** Returns the most likely root cause; among user errors, the one of the lowest rank. */
    static RankFailure rootFailure(List<RankFailure> failures) {
        return failures.stream()
                .min(
                        Comparator.comparingInt(RankFailure::order)
                                .thenComparing(end -> end.order() == 0 ? end.rank : 0))
                .orElseThrow();
    }

    /** Returns the sort key: user errors first, as restarts cannot fix them, I/O errors last. */
    private int order() {
        if (exitCode == USER_ERROR) {
            return 0;
        }
        if (isInterruption()) {
            return 1;
        }
        return exitCode == IO_ERROR ? 3 : 2;
    }

    /** Returns whether Ctrl-C or SIGTERM ended the rank. */
    public boolean isInterruption() {
        return INTERRUPTED.contains(exitCode);
    }

    /** Returns whether a restart may succeed. */
    public boolean isRetryable() {
        return exitCode != USER_ERROR && !isInterruption();
    }

    /** Returns whether the terminal already shows the reason. */
    public boolean isReported() {
        return isInterruption() || (log.isEmpty() && exitCode < SIGNALS);
    }

    /** Returns the rank, its exit code or signal, and the last line of its log. */
    @Override
    public String toString() {
        String signal = NAMES.get(exitCode - SIGNALS);
        String how =
                signal == null
                        ? Text.format("rank %d ended with exit code %d", rank, exitCode)
                        : Text.format("rank %d was killed by %s", rank, signal);
        return log.flatMap(RankLog::lastLine)
                .map(line -> line.replaceFirst("^saccade: ", ""))
                .map(line -> Printable.format("%s: %s", how, line))
                .orElse(how);
    }
}
