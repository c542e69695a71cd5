package dev.saccade.train;

import static dev.saccade.train.HookFixtures.afterStep;
import static dev.saccade.train.HookFixtures.failure;
import static dev.saccade.train.HookFixtures.scoring;
import static dev.saccade.train.HookFixtures.stem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.train.HookFixtures.Recording;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.HookState;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What hooks keep in the checkpoints of a run of 4 steps an epoch. */
class HookStateTest {

    @TempDir private Path folder;
    private TinyRun.Photos photos;

    @BeforeEach
    void writePhotos() {
        photos = TinyRun.Photos.in(folder.resolve("photos"));
    }

    private RunFolder files(String run) {
        return new RunFolder(folder.resolve(run));
    }

    private byte[] last(String run) throws IOException {
        return Files.readAllBytes(files(run).last());
    }

    /** Learns with noisy rates, measures with averaged weights, and keeps both over a resume. */
    private static final class Averaging implements Hook {

        private final List<float[]> measured;
        private Optional<HookState> restored = Optional.empty();
        private double seed = 0.3;
        private NDArray average;
        private NDArray learned;

        Averaging(List<float[]> measured) {
            this.measured = measured;
        }

        @Override
        public void beforeTrain(Run run) {
            average = stem(run).duplicate();
            restored.ifPresent(state -> state.copyTo("average", average));
        }

        @Override
        public void beforeStep(Run run) {
            seed = 4 * seed * (1 - seed);
            run.setLearningRate(run.learningRate() * seed);
        }

        @Override
        public void afterStep(Run run, StepReport step) {
            NoGrad.run(() -> average.muli(0.9).addi(stem(run).mul(0.1)));
        }

        @Override
        public void beforeEvaluation(Run run) {
            learned = stem(run).duplicate();
            NoGrad.run(() -> MemoryFormat.copy(average, stem(run)));
            measured.add(stem(run).toFloatArray());
        }

        @Override
        public void afterEvaluation(Run run, EvaluationReport evaluation) {
            NoGrad.run(() -> MemoryFormat.copy(learned, stem(run)));
        }

        @Override
        public void evaluationInterrupted(Run run) {
            NoGrad.run(() -> MemoryFormat.copy(learned, stem(run)));
        }

        @Override
        public void save(HookState state) {
            state.put("seed", seed);
            state.put("average", average);
        }

        @Override
        public void restore(HookState state) {
            seed = state.number("seed");
            restored = Optional.of(state);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {3, 8, 10})
    void keepTheirStateBitForBit(long interruption) throws IOException {
        RunConfig config = TinyRun.config(folder);
        List<float[]> whole = new ArrayList<>();
        List<float[]> parts = new ArrayList<>();
        double[] scores = {0.1, 0.2, 0.3, 0.4, 0.5};
        new TinyRun()
                .validation(scoring(scores))
                .hook(new Averaging(whole))
                .start(config, photos, folder.resolve("whole"));
        TinyRun first = new TinyRun();
        first.validation(
                        progress -> {
                            // In the middle of the evaluation after step 8.
                            if (interruption == 8 && parts.size() == 2) {
                                first.interrupt();
                            }
                            progress.run();
                            double score = scores[parts.size() - 1];
                            return () -> Map.of("AP", score);
                        })
                .hook(new Averaging(parts));
        if (interruption != 8) {
            first.stopAfter(interruption);
        }
        assertEquals(Outcome.INTERRUPTED, first.start(config, photos, folder.resolve("parts")));
        if (interruption == 8) {
            parts.remove(1);
        }
        TinyRun second = new TinyRun();
        second.validation(
                        progress -> {
                            double score = scores[parts.size() - 1];
                            return () -> Map.of("AP", score);
                        })
                .hook(new Averaging(parts))
                .resume(config, photos, folder.resolve("parts"));

        assertArrayEquals(last("whole"), last("parts"));
        assertArrayEquals(
                Files.readAllBytes(files("whole").best()),
                Files.readAllBytes(files("parts").best()));
        assertArrayEquals(whole.toArray(), parts.toArray());
        Checkpoint best = SafeTensors.read(files("whole").best());
        float[] saved = new float[whole.get(4).length];
        best.tensors().get("stem.weight").floats().get(saved);
        assertArrayEquals(whole.get(4), saved);
    }

    @Test
    void repeatsAnInterruptedEvaluation() {
        RunConfig config = TinyRun.config(folder, "iterations=4");
        Hook asks =
                afterStep(
                        (run, step) -> {
                            if (step.iteration() == 2) {
                                run.requestEvaluation();
                            }
                        });
        TinyRun first = new TinyRun();
        first.hook(asks).stopAfter(2).validation(scoring());
        assertEquals(Outcome.INTERRUPTED, first.start(config, photos, folder.resolve("run")));
        List<String> events = new ArrayList<>();
        new TinyRun()
                .hook(asks)
                .hook(new Recording(events))
                .validation(scoring(0.1, 0.2))
                .resume(config, photos, folder.resolve("run"));
        assertEquals(
                List.of(
                        "beforeTrain 2/0",
                        "beforeEvaluation 2/0",
                        "afterEvaluation 2/0",
                        "beforeStep 2/0"),
                events.subList(0, 4));
    }

    /** Keeps a number under a name. */
    private record Keeping(String name) implements Hook {

        @Override
        public void save(HookState state) {
            state.put("number", 1);
        }
    }

    @Test
    void rejectsTheStateOfAMissingHook() {
        RunConfig config = TinyRun.config(folder);
        new TinyRun()
                .hook(new Keeping("mine"))
                .stopAfter(2)
                .start(config, photos, folder.resolve("run"));
        String message = failure(() -> new TinyRun().resume(config, photos, folder.resolve("run")));
        assertTrue(message.contains("has the state of hook mine"), message);
    }

    @Test
    void rejectsTwoHooksOfOneNameWithState() {
        TinyRun run = new TinyRun().hook(new Keeping("mine")).hook(new Keeping("mine"));
        RunConfig config = TinyRun.config(folder);
        String message = failure(() -> run.start(config, photos, folder.resolve("run")));
        assertTrue(message.contains("hook mine: two hooks"), message);
    }

    @Test
    void reportsMissingState() {
        SaccadeException e =
                assertThrows(SaccadeException.class, () -> new HookState().number("scale"));
        assertTrue(e.getMessage().contains("scale: got no value, expected"), e.getMessage());
    }
}
