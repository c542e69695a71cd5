package dev.saccade.train;

import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.train.checkpoint.RankMessages;

/**
 * Requests of users and hooks since the last step, possibly on one rank only.
 *
 * @param stop reason to end the run, or null
 */
record RunRequests(boolean interrupt, boolean evaluate, boolean save, String stop) {

    /** Returns the merged requests of all ranks, which must all call this method. */
    static RunRequests merged(ProcessGroup ranks, RunRequests own) {
        return RankMessages.allGather(ranks, RunRequests.class, own).stream()
                .reduce(RunRequests::or)
                .orElseThrow();
    }

    private RunRequests or(RunRequests other) {
        return new RunRequests(
                interrupt || other.interrupt,
                evaluate || other.evaluate,
                save || other.save,
                stop == null ? other.stop : stop);
    }
}
