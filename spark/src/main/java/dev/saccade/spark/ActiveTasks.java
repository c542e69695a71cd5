package dev.saccade.spark;

import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.JavaSparkStatusTracker;

import java.time.Duration;
import java.util.Arrays;
import java.util.function.BooleanSupplier;

/** Waits for tasks of Spark jobs that failed or were canceled, but still run. */
final class ActiveTasks {

    private static final int POLL_MILLIS = 200;

    private ActiveTasks() {}

    /** Waits up to the timeout until no task of a job is active. */
    static void awaitEnd(JavaSparkContext spark, JavaFutureAction<?> job, Duration timeout)
            throws InterruptedException {
        JavaSparkStatusTracker tracker = spark.statusTracker();
        waitUntil(
                () ->
                        job.jobIds().stream()
                                .map(tracker::getJobInfo)
                                .flatMapToInt(info -> Arrays.stream(info.stageIds()))
                                .mapToObj(tracker::getStageInfo)
                                .allMatch(info -> info == null || info.numActiveTasks() == 0),
                timeout);
    }

    /** Waits for a condition; returns false if the timeout passes first. */
    static boolean waitUntil(BooleanSupplier condition, Duration timeout)
            throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                return false;
            }
            Thread.sleep(POLL_MILLIS);
        }
        return true;
    }
}
