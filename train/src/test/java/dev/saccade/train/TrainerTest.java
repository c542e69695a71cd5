package dev.saccade.train;

import static dev.saccade.train.HookFixtures.scoring;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.lang.Double.NaN;

import com.google.common.collect.ImmutableMap;

import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

class TrainerTest {

    @TempDir private Path folder;
    private TinyRun.Photos photos;

    @BeforeEach
    void writePhotos() {
        photos = TinyRun.Photos.in(folder.resolve("photos"));
    }

    private byte[] last(String run) throws IOException {
        return Files.readAllBytes(new RunFolder(folder.resolve(run)).last());
    }

    @Test
    void learns() {
        List<StepReport> steps = new ArrayList<>();
        Hook hook =
                new Hook() {
                    @Override
                    public void afterStep(Run run, StepReport step) {
                        steps.add(step);
                    }
                };
        Outcome outcome =
                new TinyRun()
                        .hook(hook)
                        .start(TinyRun.config(folder), photos, folder.resolve("run"));
        assertEquals(Outcome.FINISHED, outcome);
        assertEquals(20, steps.size());
        assertTrue(steps.get(19).loss() < 0.5 * steps.get(0).loss(), steps.toString());
        assertEquals(0.05 * 0.001, steps.get(0).learningRate(), 1e-12);
        assertEquals(0.05, steps.get(11).learningRate(), 1e-12);
        assertEquals(0.005, steps.get(12).learningRate(), 1e-12);
        assertEquals(2, steps.get(11).epoch());
        assertEquals(0, steps.get(19).remaining().toMillis());
    }

    @ParameterizedTest
    @ValueSource(strings = {"sgd", "adamw"})
    void interruptedRunEqualsAnUninterruptedRun(String optimizer) throws IOException {
        var config = TinyRun.config(folder, "optimizer={type: " + optimizer + "}");
        new TinyRun().start(config, photos, folder.resolve("whole"));
        Outcome first = new TinyRun().stopAfter(10).start(config, photos, folder.resolve("parts"));
        assertEquals(Outcome.INTERRUPTED, first);
        assertEquals(
                "10",
                SafeTensors.read(folder.resolve("parts/checkpoints/last.safetensors"))
                        .metadata()
                        .get("run.iteration"));
        Outcome second = new TinyRun().resume(config, photos, folder.resolve("parts"));
        assertEquals(Outcome.FINISHED, second);
        assertArrayEquals(last("whole"), last("parts"));
    }

    @Test
    void samplesRepeatedImagesDifferently() {
        ImageInfo three = info(3);
        long[] names = TrainStep.distinct(List.of(three, info(4), three, three));
        assertArrayEquals(new long[] {3, 4}, Arrays.copyOf(names, 2));
        assertEquals(4, Arrays.stream(names).distinct().count());
        assertArrayEquals(names, TrainStep.distinct(List.of(three, info(4), three, three)));
    }

    private static ImageInfo info(long id) {
        Size size = new Size(1, 1);
        return ImageInfo.of(id, "", size);
    }

    @Test
    void resumesFromThePreviousStateIfTheLastIsDamaged() throws IOException {
        var config = TinyRun.config(folder, "checkpoint.every.iterations=3");
        new TinyRun().start(config, photos, folder.resolve("whole"));
        new TinyRun().stopAfter(8).start(config, photos, folder.resolve("parts"));
        RunFolder parts = new RunFolder(folder.resolve("parts"));
        byte[] whole = Files.readAllBytes(parts.last());
        Files.write(parts.last(), Arrays.copyOf(whole, whole.length - 7));

        TinyRun resumed = new TinyRun();
        assertEquals(Outcome.FINISHED, resumed.resume(config, photos, parts.path()));
        assertTrue(resumed.notes().get(0).contains("truncated"), resumed.notes().toString());
        assertArrayEquals(last("whole"), last("parts"));
    }

    @Test
    void fullDiskEndsTheRunAndKeepsTheLastState() throws IOException {
        var config = TinyRun.config(folder);
        new TinyRun().stopAfter(5).start(config, photos, folder.resolve("run"));
        byte[] before = last("run");
        FailingDisk disk = new FailingDisk();
        disk.failAt(1, FailingDisk.Fault.FULL);
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                new TinyRun()
                                        .resume(
                                                config,
                                                photos,
                                                disk.wrapPath(folder.resolve("run"))));
        assertEquals(SaccadeException.Kind.IO, e.kind());
        assertTrue(e.getMessage().contains("No space left"), e.getMessage());
        assertArrayEquals(before, last("run"));
    }

    @Test
    void nonFiniteLossNamesImagesAndTerm() throws IOException {
        var config = TinyRun.config(folder, "checkpoint.every.iterations=1");
        TinyRun run = new TinyRun();
        int[] calls = {0};
        run.losses(
                (batch, scratch) ->
                        ++calls[0] < 7
                                ? run.squares(batch, scratch)
                                : new Losses(
                                        ImmutableMap.of(
                                                "loss_a", run.squares(batch, scratch).total(),
                                                "loss_b",
                                                        run.squares(batch, scratch)
                                                                .total()
                                                                .mul(Float.NaN))));
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> run.start(config, photos, folder.resolve("run")));
        assertEquals(SaccadeException.Kind.USER, e.kind());
        for (String part :
                List.of(
                        "step 7",
                        "loss_b = NaN",
                        ".png (id 10",
                        "learning rate: 5.000e-02",
                        "stem.weight")) {
            assertTrue(e.getMessage().contains(part), part + " in " + e.getMessage());
        }
        assertEquals(
                "6",
                SafeTensors.read(folder.resolve("run/checkpoints/last.safetensors"))
                        .metadata()
                        .get("run.iteration"));
    }

    @Test
    void nonFiniteGradientEndsTheRun() {
        TinyRun run = new TinyRun();
        run.losses(
                (batch, scratch) ->
                        new Losses(
                                Map.of(
                                        "root",
                                        run.net
                                                .apply(batch.to(scratch).pixels())
                                                .mul(0)
                                                .sum()
                                                .sqrt())));
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> run.start(TinyRun.config(folder), photos, folder.resolve("run")));
        assertTrue(e.getMessage().contains("the gradient is not finite"), e.getMessage());
    }

    @Test
    void keepsTheBestAndStopsEarly() throws IOException {
        Iterator<Double> scores = List.of(0.3, 0.5, 0.4, 0.5, 0.9).iterator();
        List<EvaluationReport> reports = new ArrayList<>();
        TinyRun run = new TinyRun();
        Outcome outcome =
                run.validation(
                                progress -> {
                                    assertFalse(run.net.isTraining());
                                    progress.run();
                                    double score = scores.next();
                                    return () -> Map.of("AP", score);
                                })
                        .hook(
                                new Hook() {
                                    @Override
                                    public void afterEvaluation(
                                            Run run, EvaluationReport evaluation) {
                                        reports.add(evaluation);
                                    }
                                })
                        .start(
                                TinyRun.config(
                                        folder,
                                        "evaluation.patience=2",
                                        "checkpoint.keep_every.epochs=2"),
                                photos,
                                folder.resolve("run"));
        assertEquals(Outcome.STOPPED_EARLY, outcome);
        assertEquals(
                List.of(true, true, false, false),
                reports.stream().map(EvaluationReport::best).toList());
        RunFolder files = new RunFolder(folder.resolve("run"));
        assertEquals("8", SafeTensors.read(files.best()).metadata().get("run.iteration"));
        assertEquals("8", SafeTensors.read(files.epoch(2)).metadata().get("run.iteration"));
        assertTrue(Files.exists(files.epoch(4)));
        assertFalse(Files.exists(files.epoch(3)));
    }

    @Test
    void nanIsNeverTheBest() {
        RunConfig config = TinyRun.config(folder, "evaluation.patience=3");
        List<String> notes = new ArrayList<>();
        List<Boolean> best = new ArrayList<>();
        Hook listens =
                new Hook() {
                    @Override
                    public void afterEvaluation(Run run, EvaluationReport evaluation) {
                        best.add(evaluation.best());
                    }

                    @Override
                    public void onLog(String line) {
                        notes.add(line);
                    }
                };
        RunFolder never = new RunFolder(folder.resolve("never"));
        TinyRun nan = new TinyRun().hook(listens).validation(scoring(NaN, NaN, NaN));
        assertEquals(Outcome.STOPPED_EARLY, nan.start(config, photos, never.path()));
        assertEquals(List.of(false, false, false), best);
        assertEquals("AP is NaN, so this evaluation is not the best", notes.get(0));
        assertEquals("3 evaluations without a new best: stopping", notes.get(3));
        assertFalse(Files.exists(never.bestWeights()));
        assertEquals("12", SafeTensors.read(never.last()).metadata().get("run.iteration"));

        RunFolder once = new RunFolder(folder.resolve("once"));
        TinyRun mixed = new TinyRun().validation(scoring(NaN, 0.1, NaN, 0.05, NaN));
        assertEquals(Outcome.FINISHED, mixed.start(config, photos, once.path()));
        assertEquals("8", SafeTensors.read(once.best()).metadata().get("run.iteration"));
    }

    @Test
    void repeatsAnInterruptedEvaluationAfterResuming() throws IOException {
        var config = TinyRun.config(folder, "epochs=1", "checkpoint.keep_every.epochs=1");
        Validation half = progress -> () -> Map.of("AP", 0.5);
        new TinyRun().validation(half).start(config, photos, folder.resolve("whole"));
        TinyRun first = new TinyRun();
        first.stopAfter(4)
                .validation(
                        progress -> {
                            throw new AssertionError("asked to stop");
                        });
        assertEquals(Outcome.INTERRUPTED, first.start(config, photos, folder.resolve("parts")));
        int[] evaluations = {0};
        for (int i = 0; i < 2; i++) {
            TinyRun next = new TinyRun();
            next.validation(
                    progress -> {
                        evaluations[0]++;
                        return half.run(progress);
                    });
            assertEquals(Outcome.FINISHED, next.resume(config, photos, folder.resolve("parts")));
        }
        assertEquals(1, evaluations[0]);
        assertArrayEquals(last("whole"), last("parts"));
        RunFolder whole = new RunFolder(folder.resolve("whole"));
        RunFolder parts = new RunFolder(folder.resolve("parts"));
        assertArrayEquals(Files.readAllBytes(whole.best()), Files.readAllBytes(parts.best()));
        assertArrayEquals(Files.readAllBytes(whole.epoch(1)), Files.readAllBytes(parts.epoch(1)));
    }
}
