package dev.saccade.tune;

import dev.saccade.train.config.RunConfig;

import java.util.Optional;

/**
 * Trains a model and evaluates it on the validation set of its config, in a separate process.
 *
 * @param name unique name of the job, for its files
 * @param run name of the run folder; the jobs of a trial on the same fold continue the same run
 * @param config YAML of the run; {@code data.val} are the held-out images
 * @param branch number of steps after which the learning rate reaches 0 in a branch of the run;
 *     empty to train the run to its end
 * @param kind whether to train and evaluate, and how, or only to measure the speed
 */
public record TrainJob(String name, String run, String config, Optional<Long> branch, Kind kind) {

    /** Work of a job. */
    public enum Kind {
        TRAIN,
        /** Like {@link #TRAIN}, but the run evaluates itself as well, so that it has metrics. */
        LAST,
        MEASURE
    }

    /** Creates a job that trains a run to its end. */
    static TrainJob of(String name, RunConfig config) {
        return new TrainJob(name, name, config.toYaml(), Optional.empty(), Kind.TRAIN);
    }

    /** Creates a job that trains a branch of {@code steps} steps from a run. */
    static TrainJob branch(String name, String run, RunConfig config, long steps) {
        boolean isEnd = config.iterations().filter(all -> all == steps).isPresent();
        Optional<Long> branch = isEnd ? Optional.empty() : Optional.of(steps);
        return new TrainJob(name, run, config.toYaml(), branch, Kind.TRAIN);
    }

    /** Creates a job whose run is a result of the search. */
    static TrainJob last(String name, RunConfig config) {
        RunConfig evaluated =
                config.with(
                        "evaluation.every={iterations: " + config.iterations().orElseThrow() + "}");
        return new TrainJob(name, name, evaluated.toYaml(), Optional.empty(), Kind.LAST);
    }

    static TrainJob measure(String name, RunConfig config) {
        return new TrainJob(name, name, config.toYaml(), Optional.empty(), Kind.MEASURE);
    }

    RunConfig runConfig() {
        return RunConfig.parse(config);
    }
}
