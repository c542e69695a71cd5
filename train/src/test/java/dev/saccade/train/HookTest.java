package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.MemoryFormat;
import dev.saccade.core.ops.NoGrad;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.HookState;
import dev.saccade.train.hooks.Hooks;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;
import dev.saccade.train.logs.JsonLog;
import dev.saccade.train.logs.Logging;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/** What hooks hear, and what they do to a run of 4 steps an epoch. */
class HookTest {

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

    private static Validation scoring(double... scores) {
        int[] calls = {0};
        return progress -> {
            progress.run();
            double score = scores[calls[0]++];
            return () -> Map.of("AP", score);
        };
    }

    /** Does something before each step. */
    private static Hook beforeStep(BiConsumer<Run, Long> action) {
        return new Hook() {
            @Override
            public void beforeStep(Run run) {
                action.accept(run, run.iteration() + 1);
            }
        };
    }

    /** Does something after each step. */
    private static Hook afterStep(BiConsumer<Run, StepReport> action) {
        return new Hook() {
            @Override
            public void afterStep(Run run, StepReport step) {
                action.accept(run, step);
            }
        };
    }

    /** Writes down what it is called for, and where the run is then. */
    private record Recording(String prefix, List<String> events) implements Hook {

        private void add(String event, Run run) {
            events.add("%s%s %d/%d".formatted(prefix, event, run.iteration(), run.epoch()));
        }

        @Override
        public void beforeTrain(Run run) {
            add("beforeTrain", run);
        }

        @Override
        public void afterTrain(Run run) {
            add("afterTrain", run);
        }

        @Override
        public void beforeEpoch(Run run) {
            add("beforeEpoch", run);
        }

        @Override
        public void afterEpoch(Run run) {
            add("afterEpoch", run);
        }

        @Override
        public void beforeStep(Run run) {
            add("beforeStep", run);
        }

        @Override
        public void afterStep(Run run, StepReport step) {
            assertEquals(run.iteration(), step.iteration());
            assertEquals(run.learningRate(), step.learningRate());
            add("afterStep", run);
        }

        @Override
        public void beforeEvaluation(Run run) {
            add("beforeEvaluation", run);
        }

        @Override
        public void afterEvaluation(Run run, EvaluationReport evaluation) {
            add("afterEvaluation", run);
        }

        @Override
        public void evaluationInterrupted(Run run) {
            add("evaluationInterrupted", run);
        }
    }

    @Test
    void areCalledInTheirOrderAroundWhateverARunDoes() {
        RunConfig config = TinyRun.config(folder, "iterations=5");
        List<String> events = new ArrayList<>();
        new TinyRun()
                .hook(new Recording("", events))
                .hook(
                        new Hook() {
                            @Override
                            public void beforeStep(Run run) {
                                events.add("second");
                            }
                        })
                .validation(scoring(0.1, 0.2))
                .stopAfter(2)
                .start(config, photos, folder.resolve("run"));
        assertEquals(
                List.of(
                        "beforeTrain 0/0",
                        "beforeEpoch 0/0",
                        "beforeStep 0/0",
                        "second",
                        "afterStep 1/0",
                        "beforeStep 1/0",
                        "second",
                        "afterStep 2/0",
                        "afterTrain 2/0"),
                events);

        events.clear();
        new TinyRun()
                .hook(new Recording("", events))
                .validation(scoring(0.1, 0.2))
                .resume(config, photos, folder.resolve("run"));
        assertEquals(
                List.of(
                        "beforeTrain 2/0",
                        "beforeStep 2/0",
                        "afterStep 3/0",
                        "beforeStep 3/0",
                        "afterStep 4/1",
                        "afterEpoch 4/1",
                        "beforeEvaluation 4/1",
                        "afterEvaluation 4/1",
                        "beforeEpoch 4/1",
                        "beforeStep 4/1",
                        "afterStep 5/1",
                        "beforeEvaluation 5/1",
                        "afterEvaluation 5/1",
                        "afterTrain 5/1"),
                events);
    }

    @Test
    void changeTheLearningRateOfAStep() {
        Map<Long, float[]> weights = new HashMap<>();
        List<Double> rates = new ArrayList<>();
        TinyRun tiny = new TinyRun();
        tiny.hook(
                        beforeStep(
                                (run, step) -> {
                                    if (step == 3) {
                                        run.setLearningRate(0);
                                    }
                                }))
                .hook(
                        afterStep(
                                (run, step) -> {
                                    rates.add(step.learningRate());
                                    weights.put(step.iteration(), stem(run).toFloatArray());
                                }))
                .start(TinyRun.config(folder, "iterations=4"), photos, folder.resolve("run"));
        assertEquals(List.of(0.0, 0.05 * (1 - 0.5 * 0.999)), rates.subList(2, 4));
        assertArrayEquals(weights.get(2L), weights.get(3L));
        assertFalse(List.of(weights.get(3L)).equals(List.of(weights.get(4L))));
    }

    private static NDArray stem(Run run) {
        return run.model().namedParameters().get("stem.weight").getArray();
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.1, Double.NaN, Double.POSITIVE_INFINITY})
    void areToldWhichLearningRatesThereAre(double rate) {
        String message =
                failure(
                        new TinyRun().hook(beforeStep((run, step) -> run.setLearningRate(rate))),
                        TinyRun.config(folder));
        assertTrue(message.contains("learning rate: got " + rate), message);
        assertTrue(message.contains("failed in beforeStep"), message);
    }

    private String failure(TinyRun run, RunConfig config) {
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> run.start(config, photos, folder.resolve("failing")));
        assertEquals(SaccadeException.Kind.USER, e.kind());
        return e.getMessage();
    }

    @Test
    void changeParametersInPlace() {
        List<Float> largest = new ArrayList<>();
        RunConfig config = TinyRun.config(folder, "iterations=6", "optimizer.learning_rate=1e-6");
        new TinyRun()
                .hook(afterStep((run, step) -> NoGrad.run(() -> stem(run).muli(0.5))))
                .hook(afterStep((run, step) -> largest.add(stem(run).max().getFloat())))
                .start(config, photos, folder.resolve("run"));
        assertEquals(largest.get(0) / 32, largest.get(5), 1e-3f * largest.get(5));
    }

    @Test
    void addMetricsThatOtherHooksAndTheLogsHave() throws IOException {
        List<Map<String, Double>> figures = new ArrayList<>();
        Path log = folder.resolve("metrics.jsonl");
        try (Logging logging = new Logging(new JsonLog(log, 0), 2)) {
            new TinyRun()
                    .hook(beforeStep((run, step) -> run.addMetric("before", step)))
                    .hook(
                            afterStep(
                                    (run, step) -> {
                                        if (step.iteration() == 4) {
                                            run.addMetric("fourth", 7);
                                        }
                                    }))
                    .hook(afterStep((run, step) -> figures.add(step.metrics().figures())))
                    .hook(logging)
                    .start(TinyRun.config(folder, "iterations=4"), photos, folder.resolve("run"));
        }
        assertEquals(
                List.of(
                        Map.of("before", 1.0),
                        Map.of("before", 2.0),
                        Map.of("before", 3.0),
                        Map.of("before", 4.0, "fourth", 7.0)),
                figures);
        List<String> lines = Files.readAllLines(log);
        assertTrue(lines.get(0).contains("\"figures\":{\"before\":1.5}"), lines.get(0));
        assertTrue(
                lines.get(1).contains("\"figures\":{\"before\":3.5,\"fourth\":7.0}"), lines.get(1));
    }

    @Test
    void askForEvaluationsAndCheckpoints() {
        List<Long> evaluated = new ArrayList<>();
        List<String> saved = new ArrayList<>();
        new TinyRun()
                .validation(scoring(0.5, 0.4, 0.6))
                .hook(
                        new Hook() {
                            @Override
                            public void beforeTrain(Run run) {
                                run.requestEvaluation();
                            }

                            @Override
                            public void afterStep(Run run, StepReport step) {
                                if (step.iteration() == 2) {
                                    run.requestEvaluation();
                                    run.requestCheckpoint();
                                }
                                if (step.iteration() == 3) {
                                    Checkpoint last = SafeTensors.read(files("run").last());
                                    saved.add(last.metadata().get("run.iteration"));
                                }
                            }

                            @Override
                            public void afterEvaluation(Run run, EvaluationReport evaluation) {
                                evaluated.add(evaluation.iteration());
                            }
                        })
                .start(TinyRun.config(folder, "iterations=3"), photos, folder.resolve("run"));
        assertEquals(List.of(0L, 2L, 3L), evaluated);
        assertEquals(List.of("2"), saved);
    }

    @Test
    void areToldWhereThereIsNothingToMeasureOn() {
        Hook asks = beforeStep((run, step) -> run.requestEvaluation());
        String message = failure(new TinyRun().hook(asks), TinyRun.config(folder));
        assertTrue(message.contains("no data.val"), message);
    }

    @Test
    void stopARunThatCanBeResumed() throws IOException {
        RunConfig config = TinyRun.config(folder);
        new TinyRun().start(config, photos, folder.resolve("whole"));
        List<String> notes = new ArrayList<>();
        Hook stops =
                new Hook() {
                    @Override
                    public void beforeStep(Run run) {
                        if (run.iteration() == 5) {
                            run.stop("enough");
                        }
                    }

                    @Override
                    public void noted(String line) {
                        notes.add(line);
                    }
                };
        Outcome outcome = new TinyRun().hook(stops).start(config, photos, folder.resolve("parts"));
        assertEquals(Outcome.STOPPED_EARLY, outcome);
        assertEquals(List.of("enough"), notes);
        Checkpoint state = SafeTensors.read(files("parts").last());
        assertEquals("6", state.metadata().get("run.iteration"));
        assertEquals(
                Outcome.FINISHED, new TinyRun().resume(config, photos, folder.resolve("parts")));
        assertArrayEquals(last("whole"), last("parts"));
    }

    @Test
    void stopARunBeforeItsFirstStepAndNotAfterItsLast() {
        RunConfig config = TinyRun.config(folder, "iterations=2");
        Hook atOnce =
                new Hook() {
                    @Override
                    public void beforeTrain(Run run) {
                        run.stop("at once");
                    }

                    @Override
                    public void beforeStep(Run run) {
                        throw new AssertionError("a step is taken");
                    }
                };
        assertEquals(
                Outcome.STOPPED_EARLY,
                new TinyRun().hook(atOnce).start(config, photos, folder.resolve("none")));
        Hook inTheLast =
                afterStep(
                        (run, step) -> {
                            if (step.iteration() == step.iterations()) {
                                run.stop("too late");
                            }
                        });
        assertEquals(
                Outcome.FINISHED,
                new TinyRun().hook(inTheLast).start(config, photos, folder.resolve("all")));
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
    void anEvaluationThatOneAskedForIsRepeatedWhereItWasInterrupted() {
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
                .hook(new Recording("", events))
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
    void areMissedWhereTheirStateIsThere() {
        RunConfig config = TinyRun.config(folder);
        new TinyRun()
                .hook(new Keeping("mine"))
                .stopAfter(2)
                .start(config, photos, folder.resolve("run"));
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> new TinyRun().resume(config, photos, folder.resolve("run")));
        assertTrue(e.getMessage().contains("holds the state of hook mine"), e.getMessage());
    }

    @Test
    void ofOneNameThatKeepAStateAreRefused() {
        TinyRun run = new TinyRun().hook(new Keeping("mine")).hook(new Keeping("mine"));
        String message = failure(run, TinyRun.config(folder));
        assertTrue(message.contains("hook mine: there are two"), message);
    }

    @Test
    void areToldWhatTheirStateLacks() {
        SaccadeException e =
                assertThrows(SaccadeException.class, () -> new HookState().number("scale"));
        assertTrue(e.getMessage().contains("scale: got nothing, expected"), e.getMessage());
    }

    @Test
    void areClosedAllEvenWhereOneFails() {
        List<String> closed = new ArrayList<>();
        Hook fails =
                new Hook() {
                    @Override
                    public void close() {
                        throw new IllegalStateException("stuck");
                    }
                };
        Hook last =
                new Hook() {
                    @Override
                    public void close() {
                        closed.add("last");
                    }
                };
        SaccadeException e =
                assertThrows(SaccadeException.class, () -> new Hooks(List.of(fails, last)).close());
        assertTrue(e.getMessage().contains("failed in close"), e.getMessage());
        assertEquals(List.of("last"), closed);
    }
}
