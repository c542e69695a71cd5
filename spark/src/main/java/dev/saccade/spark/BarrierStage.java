package dev.saccade.spark;

import dev.saccade.core.SaccadeException;

import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;

import scala.reflect.ClassTag$;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A Spark barrier stage, whose tasks run at the same time. */
final class BarrierStage {

    private static final String DYNAMIC = "spark.dynamicAllocation.enabled";

    /** Spark's message for canceled jobs; its number has digits of the default locale. */
    private static final Pattern CANCELLED = Pattern.compile("(?s)Job \\p{Nd}+ cancelled.*");

    /** Extracts the reason from Spark's message, without prefix and stack traces. */
    private static final Pattern LOSS = Pattern.compile("finished unsuccessfully\\.\\s*(\\S.*)");

    /** Errors of executors that lack Saccade's libraries or have older versions. */
    private static final Pattern OTHER_LIBRARIES =
            Pattern.compile(
                    "java\\.lang\\.(NoSuchMethodError|NoSuchFieldError|NoClassDefFoundError|"
                            + "ClassNotFoundException)");

    private final JavaSparkContext spark;
    private final int tasks;
    private final Duration timeout;

    /**
     * Prepares a stage. Rejects dynamic allocation, which barrier stages do not support.
     *
     * @param timeout for executors to start, and for tasks to end after a failure
     */
    BarrierStage(SparkContext spark, int tasks, Duration timeout) {
        this.spark = JavaSparkContext.fromSparkContext(spark);
        this.tasks = tasks;
        this.timeout = timeout;
        if (spark.getConf().getBoolean(DYNAMIC, false)) {
            throw SaccadeException.user(
                    "%s is true, which barrier stages do not support; set it to false,"
                            + " and spark.executor.instances to the number of executors",
                    DYNAMIC);
        }
    }

    /**
     * Runs the task on all ranks. Returns the results by rank, or empty if the job was canceled.
     * After a failure, waits up to the timeout for the other tasks to end.
     *
     * @throws SaccadeException of kind user, if executors cannot run all tasks at once or lack
     *     libraries; of kind I/O, if a task was lost
     */
    Optional<List<byte[]>> run(RankTask task) {
        try {
            requireSlots();
            JavaFutureAction<List<byte[]>> job =
                    spark.parallelize(Collections.nCopies(tasks, 0), tasks)
                            .rdd()
                            .barrier()
                            .mapPartitions(
                                    task, false, ClassTag$.MODULE$.<byte[]>apply(byte[].class))
                            .toJavaRDD()
                            .collectAsync();
            return result(job);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while ranks train", e);
        }
    }

    private Optional<List<byte[]>> result(JavaFutureAction<List<byte[]>> job)
            throws InterruptedException {
        try {
            return Optional.of(job.get());
        } catch (ExecutionException e) {
            ActiveTasks.awaitEnd(spark, job, timeout);
            String message = String.valueOf(e.getCause().getMessage());
            if (CANCELLED.matcher(message).matches()) {
                return Optional.empty();
            }
            throw lost(message, e.getCause());
        } catch (InterruptedException e) {
            job.cancel(true);
            throw e;
        }
    }

    private static SaccadeException lost(String message, Throwable cause) {
        Matcher loss = LOSS.matcher(message);
        String reason = loss.find() ? loss.group(1) : message.lines().findFirst().orElse("");
        if (OTHER_LIBRARIES.matcher(reason).lookingAt()) {
            return SaccadeException.user(
                    cause,
                    "%s on an executor; set spark.executor.userClassPathFirst to true,"
                            + " because Saccade needs newer libraries than Spark",
                    reason);
        }
        return SaccadeException.io(cause, "Spark lost a rank: %s", reason);
    }

    /** Requires room for all tasks at once; waits for starting executors, except in local mode. */
    private void requireSlots() throws InterruptedException {
        if (!(spark.sc().isLocal()
                ? slots() >= tasks
                : ActiveTasks.waitUntil(() -> slots() >= tasks, timeout))) {
            throw SaccadeException.user(
                    "Spark can run %d tasks at a time, expected %d, one per rank; use"
                            + " fewer ranks or more executors (spark.executor.instances). An"
                            + " executor runs spark.executor.cores / spark.task.cpus tasks, with"
                            + " GPUs at most spark.executor.resource.gpu.amount /"
                            + " spark.task.resource.gpu.amount",
                    slots(), tasks);
        }
    }

    private int slots() {
        return spark.sc()
                .maxNumConcurrentTasks(
                        spark.sc().resourceProfileManager().defaultResourceProfile());
    }
}
