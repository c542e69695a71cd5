package dev.saccade.tune;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.util.concurrent.Uninterruptibles;

import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskCancelledException;
import dev.saccade.core.components.ComponentFailure;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetSubset;
import dev.saccade.train.Outcome;
import dev.saccade.train.Training;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.checkpoint.RunState;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;
import dev.saccade.train.schedules.TrapezoidSchedule;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Runs a {@link TrainJob} in this process. A later run of the same job continues it. */
public final class JobRun {

    private static final Duration POLL = Duration.ofMillis(100);

    static final int MEASURED_STEPS = 8;
    private static final int WARM_UP_STEPS = 3;
    static final int MEASURED_IMAGES = 4;

    private final JobFolder folder;
    private final TrainJob job;
    private final List<Double> stepSeconds = new ArrayList<>();
    private volatile boolean stopped;
    private volatile Optional<Training> active = Optional.empty();

    /** Reads a job from the folder of a search. */
    public JobRun(Path folder, String name) {
        this.folder = new JobFolder(folder);
        this.job = TuneJson.read(this.folder.job(name), TrainJob.class);
    }

    /** Stops at the next opportunity; the run can be continued. May be called from any thread. */
    public void stop() {
        stopped = true;
        active.ifPresent(Training::stop);
    }

    /**
     * Trains, evaluates and writes the result, unless it exists. Errors of training, such as out of
     * memory, are results. Returns whether there is a result; false after {@link #stop}.
     *
     * @throws SaccadeException of kind IO, for example if the disk is full; the job can be
     *     continued
     */
    public boolean run() {
        Path lockFile = folder.lock(job.name());
        try (FileChannel channel =
                        FileChannel.open(
                                lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = lock(channel)) {
            checkState(lock.isValid(), "job %s is not locked", job.name());
            if (!Files.exists(folder.resultFile(job.name()))) {
                compute().ifPresent(done -> TuneJson.write(folder.resultFile(job.name()), done));
            }
            return Files.exists(folder.resultFile(job.name()));
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be locked: %s", lockFile, e.getMessage());
        }
    }

    /**
     * Waits for another process or thread with this job that saves its state after it was stopped,
     * such as the child of a killed parent.
     */
    private static FileLock lock(FileChannel channel) throws IOException {
        while (true) {
            try {
                return channel.lock();
            } catch (OverlappingFileLockException e) {
                Uninterruptibles.sleepUninterruptibly(POLL);
            }
        }
    }

    private Optional<JobResult> compute() {
        long start = System.nanoTime();
        try {
            return job.kind() == TrainJob.Kind.MEASURE ? measure(start) : train(start);
        } catch (RuntimeException | OutOfMemoryError e) {
            if (e instanceof SaccadeException known && known.kind() == SaccadeException.Kind.IO) {
                throw known;
            }
            String message =
                    OutOfMemory.TRAINING
                            .of(e)
                            .or(() -> ComponentFailure.of(e))
                            .map(SaccadeException::getMessage)
                            .orElse(e instanceof SaccadeException ? e.getMessage() : e.toString());
            return Optional.of(JobResult.failed(job.name(), secondsSince(start), message));
        }
    }

    private static double secondsSince(long start) {
        return (System.nanoTime() - start) / 1e9;
    }

    private Optional<JobResult> measure(long start) {
        RunConfig config = job.runConfig();
        RunConfig shortRun =
                config.with(
                        "iterations=" + MEASURED_STEPS,
                        "data.val=null",
                        "schedule={type: constant}");
        Path run = folder.run(job.run());
        JobFolder.delete(run);
        if (!isFinished(Training.of(shortRun), training -> training.start(run, timer(0)))) {
            return Optional.empty();
        }
        Dataset val = validationSet(config);
        return evaluate(
                start, config, DatasetSubset.spread(val, MEASURED_IMAGES), new RunFolder(run));
    }

    private Optional<JobResult> train(long start) {
        RunConfig config = job.runConfig();
        RunConfig whole = job.kind() == TrainJob.Kind.LAST ? config : config.with("data.val=null");
        Path trunk = folder.run(job.run());
        Path trained = trunk;
        if (job.branch().isEmpty()) {
            if (!trainTo(Training.of(whole), trunk, Long.MAX_VALUE)) {
                return Optional.empty();
            }
        } else {
            long steps = job.branch().get();
            long fork = ((TrapezoidSchedule) config.schedule()).decayStart(steps);
            trained = folder.run(job.name());
            RunFolder branch = new RunFolder(trained);
            Training decay = Training.of(whole.with("iterations=" + steps));
            if (!Files.exists(branch.config())) {
                JobFolder.delete(trained);
                if (!trainTo(Training.of(whole), trunk, fork)) {
                    return Optional.empty();
                }
                if (!isFinished(decay, training -> training.fork(trunk, branch.path(), timer(0)))) {
                    return Optional.empty();
                }
            } else if (!trainTo(decay, trained, Long.MAX_VALUE)) {
                return Optional.empty();
            }
        }
        return evaluate(start, config, validationSet(config), new RunFolder(trained));
    }

    private static Dataset validationSet(RunConfig config) {
        return config.data().val().orElseThrow().open(config.data().root());
    }

    /** Starts or continues a run until it has {@code steps} steps; false if stopped. */
    private boolean trainTo(Training training, Path run, long steps) {
        OptionalLong saved = savedSteps(run);
        if (saved.isPresent() && saved.getAsLong() == steps) {
            return true;
        }
        boolean resume = saved.isPresent() && saved.getAsLong() < steps;
        if (!resume) {
            JobFolder.delete(run);
        }
        Hook timer = timer(steps == Long.MAX_VALUE ? 0 : steps);
        boolean isFinished =
                isFinished(
                        training,
                        each -> resume ? each.resume(run, timer) : each.start(run, timer));
        return isFinished || savedSteps(run).equals(OptionalLong.of(steps));
    }

    /** Returns the steps of the last readable state of a run; empty if there is none. */
    private static OptionalLong savedSteps(Path run) {
        RunFolder files = new RunFolder(run);
        for (Path file : List.of(files.last(), files.previous())) {
            try {
                Map<String, String> metadata =
                        Files.exists(file) ? SafeTensors.read(file).metadata() : Map.of();
                if (!metadata.isEmpty()) {
                    return OptionalLong.of(RunState.fromMetadata(file, metadata).iteration());
                }
            } catch (SaccadeException e) {
                if (e.kind() == SaccadeException.Kind.IO) {
                    throw e;
                }
                // The file is damaged; resuming reports this as well.
            }
        }
        return OptionalLong.empty();
    }

    private interface Start {
        Outcome run(Training training);
    }

    private boolean isFinished(Training training, Start start) {
        active = Optional.of(training);
        if (stopped) {
            return false;
        }
        try {
            return start.run(training) != Outcome.INTERRUPTED;
        } finally {
            active = Optional.empty();
        }
    }

    /**
     * Returns a hook that times steps, and stops the training after step {@code end}, if above 0.
     */
    private Hook timer(long end) {
        return new Hook() {
            @Override
            public String name() {
                return "tune";
            }

            @Override
            public void afterStep(Run run, StepReport step) {
                stepSeconds.add(step.seconds());
                if (step.iteration() == end || stopped) {
                    active.ifPresent(Training::stop);
                }
            }
        };
    }

    private Optional<JobResult> evaluate(
            long start, RunConfig config, Dataset dataset, RunFolder run) {
        long evaluationStart = System.nanoTime();
        try {
            Map<String, Double> metrics =
                    new HeldOutEvaluation(config, dataset)
                            .run(
                                    run.last(),
                                    folder.predictions(job.name()),
                                    () -> {
                                        if (stopped) {
                                            throw new TaskCancelledException();
                                        }
                                    });
            return Optional.of(
                    new JobResult(
                            job.name(),
                            metrics,
                            secondsSince(start),
                            median(
                                    stepSeconds.subList(
                                            Math.min(WARM_UP_STEPS, stepSeconds.size()),
                                            stepSeconds.size())),
                            secondsSince(evaluationStart) / dataset.size(),
                            Optional.empty()));
        } catch (TaskCancelledException e) {
            return Optional.empty();
        } finally {
            if (job.kind() == TrainJob.Kind.MEASURE) {
                JobFolder.delete(run.path());
            }
        }
    }

    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        return sorted.isEmpty() ? 0 : sorted.get(sorted.size() / 2);
    }
}
