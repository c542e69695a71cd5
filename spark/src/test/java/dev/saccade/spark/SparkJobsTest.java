package dev.saccade.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.tune.CrossValidation;
import dev.saccade.tune.JobRunner;
import dev.saccade.tune.LocalJobs;

import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

@Timeout(120)
class SparkJobsTest {

    private static final SparkSession SPARK = SparkFixtures.spark();

    @TempDir Path folder;

    private final List<String> progress = new ArrayList<>();

    private Optional<CrossValidation.Result> validate(
            RunConfig config, JobRunner runner, String name, boolean resume) {
        return new CrossValidation(
                        config, new CrossValidation.Settings(2, 0, 1), runner, progress::add)
                .run(folder.resolve(name), resume);
    }

    private byte[] last(String name, int fold) throws IOException {
        return Files.readAllBytes(
                new RunFolder(folder.resolve(name).resolve("runs/fold_" + fold)).last());
    }

    /** Stops the jobs on Spark during the first fold, and resumes them. */
    @Test
    void spark_and_local_processes_give_the_same_result() throws Exception {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        RunConfig config = TinyTraining.in(folder.resolve("data")).with("epochs=40");
        CrossValidation.Result local =
                validate(config, new LocalJobs(1, 1), "local", false).orElseThrow();

        SparkJobs stopped = new SparkJobs(SPARK, 2);
        Path started = folder.resolve("spark/runs/fold_0/config.yaml");
        CompletableFuture<Void> stop =
                CompletableFuture.runAsync(
                        () -> {
                            while (!Files.exists(started)) {
                                Thread.onSpinWait();
                            }
                            stopped.stop();
                        });
        Optional<CrossValidation.Result> first = validate(config, stopped, "spark", false);
        stop.join();
        assertTrue(first.isEmpty());

        progress.clear();
        CrossValidation.Result spark =
                validate(config, new SparkJobs(SPARK, 2), "spark", true).orElseThrow();

        assertEquals(local.metrics(), spark.metrics());
        assertEquals(local.pooled(), spark.pooled());
        for (int fold = 0; fold < 2; fold++) {
            assertArrayEquals(last("local", fold), last("spark", fold));
        }
        assertEquals(2, progress.size(), progress.toString());
    }
}
