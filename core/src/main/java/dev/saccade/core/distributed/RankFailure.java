package dev.saccade.core.distributed;

import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How a rank has ended that was to go on.
 *
 * @param rank which one
 * @param exitCode 128 and the number of the signal, if it was ended by one
 * @param log what it has said, unless the terminal shows it
 */
public record RankFailure(int rank, int exitCode, Optional<RankLog> log) {

    private static final int MISTAKE = SaccadeException.Kind.USER.exitCode();
    private static final int OTHERS = SaccadeException.Kind.IO.exitCode();

    /** The codes of processes that Ctrl-C or SIGTERM has ended. */
    private static final List<Integer> INTERRUPTED = List.of(130, 143);

    private static final int SIGNALS = 128;

    /** Those that end programs which have not asked for it. */
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

    /**
     * Returns the one that is the reason why the others have ended, too: a mistake that several
     * have found is told by rank 0 already.
     *
     * @param failures in the order of time, one or more
     */
    static RankFailure rootFailure(List<RankFailure> failures) {
        return failures.stream()
                .min(
                        Comparator.comparingInt(RankFailure::order)
                                .thenComparing(end -> end.order() == 0 ? end.rank : 0))
                .orElseThrow();
    }

    /** Mistakes come first, which no other start mends; ranks that others have failed, last. */
    private int order() {
        if (exitCode == MISTAKE) {
            return 0;
        }
        if (isInterruption()) {
            return 1;
        }
        return exitCode == OTHERS ? 3 : 2;
    }

    /** Returns whether somebody wanted it to end. */
    public boolean isInterruption() {
        return INTERRUPTED.contains(exitCode);
    }

    /** Returns whether another start may go better. */
    public boolean isRetryable() {
        return exitCode != MISTAKE && !isInterruption();
    }

    /** Returns whether the terminal tells all of it. */
    public boolean isReported() {
        return isInterruption() || (log.isEmpty() && exitCode < SIGNALS);
    }

    /** Returns which rank ended how, with the last that its log tells. */
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
