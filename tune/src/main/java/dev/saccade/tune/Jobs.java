package dev.saccade.tune;

import dev.saccade.core.Printable;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.TaskProgress;
import dev.saccade.core.Text;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Writes the files of jobs, runs those without a result, and reads the results. */
final class Jobs {

    private final JobFolder folder;
    private final JobRunner runner;
    private final String metric;
    private final Consumer<String> progress;
    private final TaskMonitor monitor;

    /** Creates a list of jobs; progress lines show {@code metric}. */
    Jobs(
            JobFolder folder,
            JobRunner runner,
            String metric,
            Consumer<String> progress,
            TaskMonitor monitor) {
        this.folder = folder;
        this.runner = runner;
        this.metric = metric;
        this.progress = progress;
        this.monitor = monitor;
        monitor.onCancel(runner::stop);
    }

    JobFolder folder() {
        return folder;
    }

    int parallel() {
        return runner.parallel();
    }

    /** Returns the results in the order of the jobs; empty if stopped. */
    Optional<List<JobResult>> run(List<TrainJob> jobs) {
        for (TrainJob job : jobs) {
            // Replaces a file that was damaged before the work is continued.
            TuneJson.write(folder.job(job.name()), job);
        }
        List<String> names = jobs.stream().map(TrainJob::name).toList();
        AtomicInteger done =
                new AtomicInteger(
                        (int) names.stream().filter(n -> folder.result(n).isPresent()).count());
        boolean isFinished =
                runner.run(
                        folder.path(),
                        names,
                        result ->
                                print(
                                        jobs.get(names.indexOf(result.name())),
                                        result,
                                        done.incrementAndGet(),
                                        names.size()));
        return isFinished
                ? Optional.of(
                        names.stream().map(name -> folder.result(name).orElseThrow()).toList())
                : Optional.empty();
    }

    private void print(TrainJob job, JobResult result, int done, int all) {
        String outcome =
                result.failure()
                        .map(message -> "failed: " + Printable.line(message))
                        .orElseGet(() -> outcome(job.kind(), result));
        monitor.report(
                new TaskProgress(
                        "tune",
                        done,
                        all,
                        "jobs",
                        Optional.empty(),
                        OptionalInt.empty(),
                        OptionalDouble.empty()));
        progress.accept(
                Text.format(
                        "[%d/%d] %s: %s, %s",
                        done,
                        all,
                        result.name().replace('_', ' '),
                        outcome,
                        Durations.text(result.seconds())));
    }

    private String outcome(TrainJob.Kind kind, JobResult result) {
        return kind == TrainJob.Kind.MEASURE
                ? Text.format("%.3f s per step", result.secondsPerStep())
                : Text.format("%s %.3f", metric, score(result).orElse(Double.NaN));
    }

    /** Returns the metric of a result; empty if it failed or the metric is undefined. */
    Optional<Double> score(JobResult result) {
        return Optional.ofNullable(result.metrics().get(metric)).filter(each -> !each.isNaN());
    }
}
