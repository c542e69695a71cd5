package dev.saccade.train;

import static dev.saccade.train.HookFixtures.afterStep;
import static dev.saccade.train.HookFixtures.failure;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.core.nn.Module;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Averages of the weights in a run of 4 steps an epoch. */
class EmaTest {

    private static final String EMA = "ema={decay: 0.9, warmup: 0}";
    private static final String TRAINED = "ema.trained.";
    private static final Set<String> STATISTICS = Set.of("norm.running_mean", "norm.running_var");

    @TempDir private Path folder;
    private TinyRun.Photos photos;

    @BeforeEach
    void writePhotos() {
        photos = TinyRun.Photos.in(folder.resolve("photos"));
    }

    private RunFolder files(String run) {
        return new RunFolder(folder.resolve(run));
    }

    private static Map<String, float[]> values(Module net) {
        Map<String, float[]> values = new LinkedHashMap<>();
        net.namedParameters().forEach((name, p) -> values.put(name, p.getArray().toFloatArray()));
        return values;
    }

    private static float[] values(Tensor tensor) {
        float[] values = new float[Math.toIntExact(tensor.shape().size())];
        tensor.floats().get(values);
        return values;
    }

    private static void assertHas(Map<String, float[]> expected, Path file) {
        Map<String, Tensor> found = SafeTensors.read(file).tensors();
        expected.forEach((name, x) -> assertArrayEquals(x, values(found.get(name)), name));
    }

    private void assertSameFiles(String run, String other) throws IOException {
        assertArrayEquals(
                Files.readAllBytes(files(run).last()), Files.readAllBytes(files(other).last()));
        assertArrayEquals(
                Files.readAllBytes(files(run).best()), Files.readAllBytes(files(other).best()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sgd", "adamw"})
    void resumedRunEqualsAnUninterruptedRun(String optimizer) throws IOException {
        RunConfig config =
                TinyRun.config(
                        folder,
                        "optimizer={type: " + optimizer + "}",
                        "ema={decay: 0.9, warmup: 3, interval: 2, update_buffers: true}");
        Validation half = progress -> () -> Map.of("AP", 0.5);
        new TinyRun().validation(half).start(config, photos, folder.resolve("whole"));

        new TinyRun().validation(half).stopAfter(11).start(config, photos, folder.resolve("parts"));
        TinyRun amidEvaluation = new TinyRun();
        amidEvaluation.validation(
                progress -> {
                    amidEvaluation.interrupt();
                    progress.run();
                    throw new AssertionError("asked to stop");
                });
        assertEquals(
                Outcome.INTERRUPTED,
                amidEvaluation.resume(config, photos, folder.resolve("parts")));
        Outcome last = new TinyRun().validation(half).resume(config, photos, files("parts").path());

        assertEquals(Outcome.FINISHED, last);
        assertSameFiles("whole", "parts");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sgd", "adamw"})
    void evaluatesAndSavesTheAveragesWithoutChangingTraining(String optimizer) {
        String type = "optimizer={type: " + optimizer + "}";
        String keep = "checkpoint.keep_every.epochs=1";
        new TinyRun().start(TinyRun.config(folder, type), photos, folder.resolve("plain"));

        TinyRun run = new TinyRun();
        Map<String, double[]> averages = new LinkedHashMap<>();
        List<Map<String, float[]>> measured = new ArrayList<>();
        List<Map<String, float[]>> learned = new ArrayList<>();
        run.hook(afterStep((of, step) -> follow(averages, values(of.model()))))
                .hook(
                        new Hook() {
                            @Override
                            public void beforeEvaluation(Run of) {
                                learned.add(values(of.model()));
                            }

                            @Override
                            public void afterEvaluation(Run of, EvaluationReport evaluation) {
                                learned.remove(0)
                                        .forEach(
                                                (name, x) ->
                                                        assertArrayEquals(
                                                                x,
                                                                values(of.model()).get(name),
                                                                name));
                            }
                        })
                .validation(
                        progress -> {
                            measured.add(values(run.net));
                            double score = measured.size() == 3 ? 0.9 : 0.1;
                            return () -> Map.of("AP", score);
                        })
                .start(TinyRun.config(folder, type, keep, EMA), photos, folder.resolve("run"));

        assertEquals(5, measured.size());
        assertHas(measured.get(2), files("run").best());
        assertHas(measured.get(3), files("run").epoch(4));
        assertHas(measured.get(4), files("run").last());
        averages.forEach(
                (name, x) -> {
                    float[] last = measured.get(4).get(name);
                    for (int i = 0; i < x.length; i++) {
                        assertEquals(x[i], last[i], 1e-6, name);
                    }
                });
        Map<String, Tensor> ends = SafeTensors.read(files("run").last()).tensors();
        SafeTensors.read(files("plain").last())
                .tensors()
                .forEach(
                        (name, expected) -> {
                            boolean averaged = averages.containsKey(name);
                            assertEquals(expected, ends.get(averaged ? TRAINED + name : name));
                            assertFalse(averaged && expected.equals(ends.get(name)), name);
                        });
    }

    /** Averages all that is learned, beginning with the values after the first step. */
    private static void follow(Map<String, double[]> averages, Map<String, float[]> weights) {
        weights.forEach(
                (name, values) -> {
                    if (STATISTICS.contains(name)) {
                        return;
                    }
                    boolean begins = !averages.containsKey(name);
                    double[] average =
                            averages.computeIfAbsent(name, n -> new double[values.length]);
                    for (int i = 0; i < values.length; i++) {
                        average[i] = begins ? values[i] : 0.9 * average[i] + 0.1 * values[i];
                    }
                });
    }

    @Test
    void rejectsAStateWithOtherAverages() {
        RunConfig without = TinyRun.config(folder);
        RunConfig with = TinyRun.config(folder, EMA);
        new TinyRun().stopAfter(5).start(without, photos, folder.resolve("without"));
        new TinyRun().stopAfter(5).start(with, photos, folder.resolve("with"));

        String none = failure(() -> new TinyRun().resume(with, photos, files("without").path()));
        assertTrue(none.contains("has 0 averaged weights, but the ema of this config has 7"), none);
        String some = failure(() -> new TinyRun().resume(without, photos, files("with").path()));
        assertTrue(some.contains("has 7 averaged weights, but the ema of this config has 0"), some);
    }

    @Test
    void aNewRunStartsFromTheAverages() {
        RunConfig config = TinyRun.config(folder, EMA);
        new TinyRun().stopAfter(9).start(config, photos, folder.resolve("run"));
        Checkpoint state = SafeTensors.read(files("run").last());

        TinyRun next = new TinyRun();
        try (next.manager) {
            Weights.initialize(state, next.net);
            values(next.net)
                    .forEach(
                            (name, x) ->
                                    assertArrayEquals(values(state.tensors().get(name)), x, name));
        }
    }
}
