package dev.saccade.tune;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * Runs jobs whose files are in a folder, several at a time. Results do not depend on the order or
 * the number of parallel jobs.
 */
public interface JobRunner {

    /** Returns the number of jobs that run at the same time, to plan the time. */
    int parallel();

    /** Stops all jobs after their current step, and starts no more. */
    void stop();

    /**
     * Runs jobs until each has a result; failures are results, too. Returns false if the jobs were
     * stopped before.
     *
     * @param folder contains the jobs; shared with all processes that run jobs
     * @param finished called by one thread at a time with each result
     */
    boolean run(Path folder, List<String> jobs, Consumer<JobResult> finished);
}
