package dev.saccade.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.train.Outcome;
import dev.saccade.train.Training;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;

import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** Trains in tasks of a Spark of two threads, beside two ranks without it. */
@Timeout(120)
class SparkTrainerTest {

    private static final SparkSession SPARK = SparkFixtures.spark();

    @TempDir static Path shared;
    private static RunConfig config;
    private static byte[] expected;

    @TempDir Path folder;

    @BeforeAll
    static void trainWithoutSpark() throws Exception {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        config = TinyTraining.in(shared.resolve("data"));
        expected = TinyTraining.withoutSpark(config, shared.resolve("expected"));
    }

    private SparkTrainer trainer(RunConfig config) {
        return SparkTrainer.of(config).ranks(2).timeout(Duration.ofSeconds(30));
    }

    /** Has rank 1 fail after a step, some times. */
    private RunConfig failing(FailingHook.Way way, int step, int times) throws IOException {
        Path left = Files.createDirectories(folder.resolve("times"));
        for (int i = 0; i < times; i++) {
            Files.createFile(left.resolve(i + ""));
        }
        return TinyTraining.failing(config, way, 1, step, left);
    }

    private long timesLeft() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("times"))) {
            return files.count();
        }
    }

    private static String thrown(SaccadeException.Kind kind, Executable training) {
        SaccadeException error = assertThrows(SaccadeException.class, training);
        assertEquals(kind, error.kind(), error.getMessage());
        return error.getMessage();
    }

    private static void refused(String message, Executable mistake) {
        String told = thrown(SaccadeException.Kind.USER, mistake);
        assertTrue(told.contains(message), told);
    }

    @Test
    void tasksTrainLikeOtherRanks() throws IOException {
        Path run = folder.resolve("run");
        assertEquals(Outcome.FINISHED, trainer(config).start(SPARK, run));
        assertArrayEquals(expected, TinyTraining.last(run));
    }

    @Test
    void ranksWithoutCheckpointStartAgain() throws IOException {
        Path run = folder.resolve("run");
        SparkTrainer trainer = trainer(failing(FailingHook.Way.MISFORTUNE, 2, 1));
        assertEquals(Outcome.FINISHED, trainer.maxRestarts(1).start(SPARK, run));
        assertEquals(0, timesLeft());
        assertArrayEquals(expected, TinyTraining.last(run));
    }

    @Test
    void reportsTheErrorOfTheFailedRank() throws IOException {
        Path run = folder.resolve("run");
        String error =
                thrown(
                        SaccadeException.Kind.IO,
                        () -> trainer(failing(FailingHook.Way.MISFORTUNE, 5, 1)).start(SPARK, run));
        assertEquals("a misfortune", error);
        SparkTrainer trainer = trainer(Training.config(run));
        assertEquals(Outcome.FINISHED, trainer.resume(SPARK, run));
        assertArrayEquals(expected, TinyTraining.last(run));
    }

    @Test
    void userErrorsAreNotRetried() throws IOException {
        String error =
                thrown(
                        SaccadeException.Kind.USER,
                        () ->
                                trainer(failing(FailingHook.Way.MISTAKE, 2, 2))
                                        .maxRestarts(3)
                                        .start(SPARK, folder.resolve("run")));
        assertEquals("a mistake", error);
        assertEquals(1, timesLeft());
    }

    @Test
    void cancellingTheJobInterruptsTheRun() throws IOException {
        Path run = folder.resolve("run");
        RunConfig endless = config.with("epochs=100000", "checkpoint.every.iterations=100000");
        CompletableFuture<Outcome> outcome =
                CompletableFuture.supplyAsync(() -> trainer(endless).start(SPARK, run));
        Path steps = new RunFolder(run).metrics();
        while (!outcome.isDone() && (!Files.exists(steps) || Files.size(steps) == 0)) {
            Thread.onSpinWait();
        }
        assertFalse(new RunFolder(run).isSaved());
        SPARK.sparkContext().cancelAllJobs();
        assertEquals(Outcome.INTERRUPTED, outcome.join());
        // The job has ended, but its tasks may still be on their way out.
        Instant latest = Instant.now().plusSeconds(60);
        while (!new RunFolder(run).isSaved() && Instant.now().isBefore(latest)) {
            Thread.onSpinWait();
        }
        assertTrue(new RunFolder(run).isSaved());
    }

    @Test
    void reportsErrorsBeforeTraining() {
        Path run = folder.resolve("run");
        refused(
                "device: got cuda:1, expected cuda, auto or cpu",
                () -> SparkTrainer.of(config.with("device=cuda:1")));
        refused("data.train: missing", () -> SparkTrainer.of(config.withoutDatasets()));
        refused(
                "Spark can run 2 tasks at a time, expected 3",
                () -> trainer(config).ranks(3).start(SPARK, run));
        refused(
                "is not a run folder; config.yaml is missing",
                () -> trainer(config).resume(SPARK, run));
        refused("not empty", () -> trainer(config).start(SPARK, shared));

        SparkConf settings = SPARK.sparkContext().conf();
        settings.set("spark.dynamicAllocation.enabled", "true");
        try {
            refused(
                    "spark.dynamicAllocation.enabled is true",
                    () -> trainer(config).start(SPARK, run));
        } finally {
            settings.remove("spark.dynamicAllocation.enabled");
        }
    }

    @Test
    void reportsStorageThatExecutorsCannotRead() {
        Path elsewhere = folder.resolve("elsewhere");
        RankTask task = new RankTask(config, elsewhere, false, Duration.ofSeconds(30));
        BarrierStage stage = new BarrierStage(SPARK.sparkContext(), 1, Duration.ofSeconds(30));
        List<RankResult> results =
                stage.run(task).orElseThrow().stream().map(RankResult::read).toList();
        refused(
                elsewhere + ": the driver has this folder, but executor ",
                () -> RankResult.outcome(results));
    }
}
