package dev.saccade.spark;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.tune.JobFolder;
import dev.saccade.tune.JobResult;
import dev.saccade.tune.JobRun;
import dev.saccade.tune.JobRunner;

import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/**
 * Runs the jobs of {@link dev.saccade.tune.Tuner} and {@link dev.saccade.tune.CrossValidation} as
 * tasks of Apache Spark.
 *
 * <pre>{@code
 * SparkJobs jobs = new SparkJobs(spark, 8);
 * new Tuner(config, settings, jobs, System.out::println).run(Path.of("/shared/tune/cells"), false);
 * }</pre>
 *
 * <p>Driver and executors need the folder of the search and the data under the same paths. If Spark
 * loses an executor, it runs its jobs on another one, where they continue from their last
 * checkpoint. For results that do not depend on the executors, run one task per executor with the
 * same number of threads: {@code spark.task.cpus} equal to {@code spark.executor.cores}, and {@code
 * spark.executorEnv.OMP_NUM_THREADS}.
 */
public final class SparkJobs implements JobRunner {

    private static final Duration TIME_TO_SAVE = Duration.ofMinutes(1);
    private static final Duration POLL = Duration.ofMillis(500);

    /** Process id and host name. */
    private static final String HOST = ManagementFactory.getRuntimeMXBean().getName();

    private final JavaSparkContext spark;
    private final int parallel;
    private volatile boolean stopped;

    /**
     * Creates a runner.
     *
     * @param parallel number of tasks that the executors run at the same time, to plan the time
     */
    public SparkJobs(SparkSession spark, int parallel) {
        checkArgument(parallel >= 1, "parallel: got %s, expected 1 or more", parallel);
        this.spark = JavaSparkContext.fromSparkContext(spark.sparkContext());
        this.parallel = parallel;
    }

    @Override
    public int parallel() {
        return parallel;
    }

    @Override
    public void stop() {
        stopped = true;
    }

    @Override
    public boolean run(Path folder, List<String> jobs, Consumer<JobResult> finished) {
        Path shared = folder.toAbsolutePath();
        JobFolder files = new JobFolder(shared);
        List<String> missing = jobs.stream().filter(job -> files.result(job).isEmpty()).toList();
        if (missing.isEmpty()) {
            return true;
        }
        String path = shared.toString();
        JavaFutureAction<List<String>> tasks =
                spark.parallelize(missing, missing.size())
                        .map(job -> runInTask(path, job))
                        .collectAsync();
        try {
            Set<String> reported = new HashSet<>();
            while (!stopped && !ActiveTasks.waitUntil(tasks::isDone, POLL)) {
                report(files, missing, reported, finished);
            }
            finish(tasks);
            report(files, missing, reported, finished);
        } catch (InterruptedException e) {
            tasks.cancel(true);
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while jobs run", e);
        }
        return jobs.stream().allMatch(job -> files.result(job).isPresent());
    }

    private static void report(
            JobFolder files,
            List<String> jobs,
            Set<String> reported,
            Consumer<JobResult> finished) {
        for (String job : jobs) {
            if (!reported.contains(job)) {
                Optional<JobResult> result = files.result(job);
                result.ifPresent(finished);
                result.ifPresent(done -> reported.add(job));
            }
        }
    }

    /** Cancels the tasks after {@link #stop}, else rethrows their first error. */
    private void finish(JavaFutureAction<List<String>> tasks) throws InterruptedException {
        if (stopped) {
            tasks.cancel(true);
            ActiveTasks.awaitEnd(spark, tasks, TIME_TO_SAVE);
            return;
        }
        try {
            for (String error : tasks.get()) {
                if (!error.isEmpty()) {
                    throw SaccadeException.user("%s", error);
                }
            }
        } catch (ExecutionException | CancellationException e) {
            ActiveTasks.awaitEnd(spark, tasks, TIME_TO_SAVE);
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw SaccadeException.io(
                    cause,
                    "Spark lost a job: %s; continue with resume",
                    String.valueOf(cause.getMessage()).lines().findFirst().orElse(""));
        }
    }

    /** Runs a job on an executor; returns an error of the cluster, or an empty string. */
    private static String runInTask(String folder, String job) {
        if (!Files.isDirectory(Path.of(folder))) {
            return Text.format(
                    "%s: the driver has this folder, but executor %s does not; choose a folder on"
                            + " storage shared by the driver and all executors",
                    folder, HOST);
        }
        JobRun run = new JobRun(Path.of(folder), job);
        TaskContext context = TaskContext.get();
        Thread watch =
                new Thread(
                        () -> {
                            try {
                                while (!context.isInterrupted()) {
                                    Thread.sleep(POLL.toMillis());
                                }
                                run.stop();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        },
                        "cancellation-watch");
        watch.setDaemon(true);
        watch.start();
        try {
            run.run();
        } finally {
            watch.interrupt();
        }
        return "";
    }
}
