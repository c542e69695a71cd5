package dev.saccade.tune;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.CocoResults;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

class CrossValidationTest {

    @TempDir Path folder;

    private RunConfig config() throws IOException {
        return RunConfig.load(
                TinyData.write(folder), "iterations=24", "model.head.nms.score_thr=0.001");
    }

    private Optional<CrossValidation.Result> run(String name, LocalJobs jobs, boolean resume)
            throws IOException {
        return new CrossValidation(
                        config(), new CrossValidation.Settings(2, 0, 1), jobs, line -> {})
                .run(folder.resolve(name), resume);
    }

    private byte[] last(String name, int fold) throws IOException {
        return Files.readAllBytes(
                new RunFolder(folder.resolve(name).resolve("runs/fold_" + fold)).last());
    }

    /** Kills child processes until the jobs end, and stops once. */
    @Test
    void parallelAndKilledProcessesGiveTheSameResult() throws Exception {
        CrossValidation.Result alone = run("one", new LocalJobs(1, 1), false).orElseThrow();

        Thread killer =
                new Thread(
                        () -> {
                            for (int i = 0; i < 2; i++) {
                                awaitRun(folder.resolve("killed/runs/fold_" + i));
                                ProcessHandle.current()
                                        .children()
                                        .filter(child -> child.info().command().isPresent())
                                        .findFirst()
                                        .ifPresent(ProcessHandle::destroyForcibly);
                            }
                        });
        killer.start();
        LocalJobs two = new LocalJobs(2, 1);
        CrossValidation.Result killed = run("killed", two, false).orElseThrow();
        killer.join();

        LocalJobs stopped = new LocalJobs(2, 1);
        Thread stop =
                new Thread(
                        () -> {
                            awaitRun(folder.resolve("stopped/runs/fold_0"));
                            stopped.stop();
                        });
        stop.start();
        run("stopped", stopped, false);
        stop.join();
        CrossValidation.Result resumed = run("stopped", new LocalJobs(2, 1), true).orElseThrow();

        for (CrossValidation.Result other : List.of(killed, resumed)) {
            assertEquals(alone.metrics(), other.metrics());
            assertEquals(alone.pooled(), other.pooled());
        }
        for (int fold = 0; fold < 2; fold++) {
            assertArrayEquals(last("one", fold), last("killed", fold));
            assertArrayEquals(last("one", fold), last("stopped", fold));
        }
        checkPredictions();
        assertTrue(alone.summary().contains("pooled"), alone.summary());
        assertTrue(Files.readString(alone.report()).contains("Cross-validation"));
        assertTrue(Files.exists(folder.resolve("one/label_errors.json")));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 1, 11})
    void rejectsFoldsWithoutImages(int folds) throws IOException {
        CrossValidation validation =
                new CrossValidation(
                        config(),
                        new CrossValidation.Settings(folds, 0, 1),
                        new LocalJobs(1, 1),
                        line -> {});
        SaccadeException error =
                assertThrows(
                        SaccadeException.class, () -> validation.run(folder.resolve("out"), false));
        assertEquals(
                "folds: got " + folds + ", expected 2 to 10, the number of training images",
                error.getMessage());
        assertFalse(Files.exists(folder.resolve("out")));
    }

    @Test
    void resumesOnlyWithTheSameLabels() throws IOException {
        LocalJobs stopped = new LocalJobs(1, 1);
        stopped.stop();
        assertFalse(run("out", stopped, false).isPresent());
        RunConfig same = config();
        Path labels = folder.resolve("train.json");
        Files.writeString(labels, Files.readString(labels).replace("[3,4,16,20]", "[3,4,16,19]"));
        CrossValidation changed =
                new CrossValidation(
                        same,
                        new CrossValidation.Settings(2, 0, 1),
                        new LocalJobs(1, 1),
                        line -> {});
        SaccadeException error =
                assertThrows(
                        SaccadeException.class, () -> changed.run(folder.resolve("out"), true));
        assertTrue(error.getMessage().contains("labels of data.train"), error.getMessage());
    }

    private static void awaitRun(Path run) {
        long end = System.nanoTime() + Duration.ofMinutes(2).toNanos();
        while (!Files.exists(run.resolve("config.yaml")) && System.nanoTime() < end) {
            Uninterruptibles.sleepUninterruptibly(Duration.ofMillis(10));
        }
    }

    private void checkPredictions() throws IOException {
        Dataset dataset = FoldConfigs.images(config()).open(folder);
        CocoDetections all = CocoResults.read(folder.resolve("one/out_of_fold.bbox.json"), dataset);
        Set<Long> ids = new TreeSet<>();
        for (int d = 0; d < all.size(); d++) {
            ids.add(all.imageId(d));
        }
        assertTrue(ids.size() > 5, ids.toString());
    }
}
