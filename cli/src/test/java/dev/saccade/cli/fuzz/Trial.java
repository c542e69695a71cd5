package dev.saccade.cli.fuzz;

import com.google.common.base.CharMatcher;
import com.sun.management.ThreadMXBean;

import dev.saccade.core.SaccadeException;

import java.lang.management.ManagementFactory;
import java.util.Optional;

/**
 * What came of an input.
 *
 * @param accepted whether it was let in; otherwise it was refused, or something failed
 * @param failure what Saccade did wrong, if it did
 * @param bytes what was allocated on the heap for it
 */
record Trial(boolean accepted, Optional<Throwable> failure, long bytes) {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final CharMatcher CONTROL =
            CharMatcher.javaIsoControl().and(CharMatcher.noneOf("\n"));
    private static final int LONGEST_MESSAGE = 150_000;

    /** Lets an input in; also one that fails leads to a result. */
    static Trial of(FuzzTarget target, byte[] input) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        Throwable failure = null;
        boolean accepted = false;
        try {
            target.enter(input);
            accepted = true;
        } catch (SaccadeException e) {
            failure = e.kind() == SaccadeException.Kind.USER ? faultOf(e) : e;
        } catch (Throwable e) {
            failure = e;
        }
        long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
        return new Trial(accepted, Optional.ofNullable(failure), bytes);
    }

    /** Returns this trial as a failure if it took more of the heap than its input may. */
    Trial checkAllocation(long allowance) {
        if (failure.isPresent() || bytes <= allowance) {
            return this;
        }
        String message = bytes + " bytes were allocated, " + allowance + " are allowed";
        return new Trial(false, Optional.of(new AssertionError(message)), bytes);
    }

    /** Returns what is wrong with a refusal, null if nothing is. */
    private static Throwable faultOf(SaccadeException refusal) {
        String message = String.valueOf(refusal.getMessage());
        if (CONTROL.matchesAnyOf(message)) {
            return new AssertionError("a message with control characters", refusal);
        }
        if (message.isBlank() || message.length() > LONGEST_MESSAGE) {
            return new AssertionError("a message of " + message.length() + " characters", refusal);
        }
        return null;
    }
}
