package dev.saccade.train;

import static dev.saccade.train.HookFixtures.afterStep;
import static dev.saccade.train.HookFixtures.beforeStep;
import static dev.saccade.train.HookFixtures.scoring;
import static dev.saccade.train.HookFixtures.stem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
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

/** What hooks do to a run of 4 steps an epoch. */
class HookActionTest {

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

    private String failure(Hook hook) {
        TinyRun run = new TinyRun().hook(hook);
        RunConfig config = TinyRun.config(folder);
        return HookFixtures.failure(() -> run.start(config, photos, folder.resolve("run")));
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

    @ParameterizedTest
    @ValueSource(doubles = {-0.1, Double.NaN, Double.POSITIVE_INFINITY})
    void rejectInvalidLearningRates(double rate) {
        String message = failure(beforeStep((run, step) -> run.setLearningRate(rate)));
        assertTrue(message.contains("learning rate: got " + rate), message);
        assertTrue(message.contains("failed in beforeStep"), message);
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
        List<Map<String, Double>> metrics = new ArrayList<>();
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
                    .hook(afterStep((run, step) -> metrics.add(step.metrics())))
                    .hook(logging)
                    .start(TinyRun.config(folder, "iterations=4"), photos, folder.resolve("run"));
        }
        assertEquals(
                List.of(
                        Map.of("before", 1.0),
                        Map.of("before", 2.0),
                        Map.of("before", 3.0),
                        Map.of("before", 4.0, "fourth", 7.0)),
                metrics);
        List<String> lines = Files.readAllLines(log);
        assertTrue(lines.get(0).contains("\"metrics\":{\"before\":1.5}"), lines.get(0));
        assertTrue(
                lines.get(1).contains("\"metrics\":{\"before\":3.5,\"fourth\":7.0}"), lines.get(1));
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
    void rejectEvaluationRequestsWithoutValidationSet() {
        String message = failure(beforeStep((run, step) -> run.requestEvaluation()));
        assertTrue(message.contains("data.val is missing"), message);
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
                    public void onLog(String line) {
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

    @ParameterizedTest
    @ValueSource(longs = {0, 2, 4})
    void stopARunWhichIsEvaluatedAndSaved(long steps) {
        RunConfig config = TinyRun.config(folder, "checkpoint.every.epochs=3");
        List<Long> evaluated = new ArrayList<>();
        Hook stops =
                new Hook() {
                    @Override
                    public void beforeTrain(Run run) {
                        stopIfTime(run);
                    }

                    @Override
                    public void beforeEpoch(Run run) {
                        stopIfTime(run);
                    }

                    @Override
                    public void afterStep(Run run, StepReport step) {
                        if (steps == 2) {
                            stopIfTime(run);
                        }
                    }

                    private void stopIfTime(Run run) {
                        if (run.iteration() == steps) {
                            run.stop("it is time");
                        }
                    }

                    @Override
                    public void afterEvaluation(Run run, EvaluationReport evaluation) {
                        evaluated.add(evaluation.iteration());
                    }
                };
        TinyRun run = new TinyRun().hook(stops).validation(scoring(0.5));
        assertEquals(Outcome.STOPPED_EARLY, run.start(config, photos, folder.resolve("run")));
        assertEquals(List.of(steps), evaluated);
        for (Path file : List.of(files("run").last(), files("run").best())) {
            Map<String, String> state = SafeTensors.read(file).metadata();
            assertEquals(Long.toString(steps), state.get("run.iteration"), file.toString());
            assertEquals("0.5", state.get("run.best"));
        }
    }

    @Test
    void repeatAnInterruptedLastEvaluation() {
        RunConfig config = TinyRun.config(folder, "iterations=4");
        List<Double> scores = new ArrayList<>();
        Hook stops = beforeStep((run, step) -> run.stop("enough"));
        TinyRun first = new TinyRun().hook(stops);
        first.validation(
                progress -> {
                    first.interrupt();
                    progress.run();
                    throw new AssertionError("goes on");
                });
        assertEquals(Outcome.INTERRUPTED, first.start(config, photos, folder.resolve("run")));
        Hook listens =
                new Hook() {
                    @Override
                    public void afterEvaluation(Run run, EvaluationReport evaluation) {
                        assertEquals(1 + 3 * scores.size(), evaluation.iteration());
                        scores.addAll(evaluation.metrics().values());
                    }
                };
        TinyRun second = new TinyRun().hook(listens).validation(scoring(0.1, 0.2));
        assertEquals(Outcome.FINISHED, second.resume(config, photos, folder.resolve("run")));
        assertEquals(List.of(0.1, 0.2), scores);
    }

    @Test
    void stopBeforeTheFirstStepButNotAfterTheLast() {
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
}
