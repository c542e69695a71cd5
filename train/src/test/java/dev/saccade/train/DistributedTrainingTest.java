package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.datasets.Dataset;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/** Trains on several ranks, threads of this process, beside one that takes their batches. */
@Timeout(300)
class DistributedTrainingTest {

    static final String CONFIG =
            """
            model:
              backbone: {type: swin, embed_dim: 8, depths: [1, 1, 1, 1], num_heads: [1, 1, 1, 1]}
              neck: {type: fpn, out_channels: 16, start_level: 1, num_outs: 3}
              head: {type: retinanet, feat_channels: 16, stacked_convs: 1}
            data:
              batch_size: 1
              train_transforms: [{type: random_flip}, {type: normalize}, {type: pad}]
              val_transforms: [{type: normalize}, {type: pad}]
            optimizer: {type: sgd, learning_rate: 0.002, momentum: 0.9}
            schedule: {type: constant}
            max_gradient_norm: 1
            epochs: 3
            log_interval: 1
            """;

    @TempDir private Path folder;
    private Squares squares;

    @BeforeEach
    void draw() throws IOException {
        squares = Squares.draw(Files.createDirectories(folder.resolve("photos")), 9);
    }

    private RunConfig config(String... settings) {
        return RunConfig.parse(CONFIG).with(settings);
    }

    /** Trains on some ranks; returns their outcomes, or errors. */
    private List<Object> train(int worldSize, String name, Begin begin, RunConfig config) {
        Path target = folder.resolve(name);
        return Ranks.together(
                worldSize,
                group -> begin.run(Training.of(config, squares, squares).on(group), target));
    }

    private Checkpoint last(String name) {
        return SafeTensors.read(new RunFolder(folder.resolve(name)).last());
    }

    private byte[] bytes(String name) throws IOException {
        return Files.readAllBytes(new RunFolder(folder.resolve(name)).last());
    }

    private List<Double> losses(String name) throws IOException {
        List<Double> losses = new ArrayList<>();
        for (String line : Files.readAllLines(new RunFolder(folder.resolve(name)).metrics())) {
            JsonNode step = new ObjectMapper().readTree(line);
            if (step.has("loss")) {
                losses.add(step.get("loss").asDouble());
            }
        }
        return losses;
    }

    /** Returns how far all weights are from others, beside their norm. */
    private static double difference(Checkpoint found, Checkpoint expected) {
        assertEquals(expected.tensors().keySet(), found.tensors().keySet());
        double squares = 0;
        double differences = 0;
        for (Map.Entry<String, Tensor> tensor : expected.tensors().entrySet()) {
            FloatBuffer a = tensor.getValue().floats();
            FloatBuffer b = found.tensors().get(tensor.getKey()).floats();
            for (int i = 0; i < a.remaining(); i++) {
                squares += (double) a.get(i) * a.get(i);
                differences += Math.pow((double) a.get(i) - b.get(i), 2);
            }
        }
        return Math.sqrt(differences / squares);
    }

    @ParameterizedTest
    @CsvSource({"2, 1", "2, 2", "4, 1", "8, 1"})
    void ranksEqualOneRankWithAccumulation(int worldSize, int accumulation) throws IOException {
        RunConfig config = config("iterations=16", "accumulation=" + accumulation);
        RunConfig alone = config("iterations=16", "accumulation=" + worldSize * accumulation);
        Training.of(alone, squares).start(folder.resolve("alone"));
        Path target = folder.resolve("ranks");
        List<Object> outcomes =
                Ranks.together(
                        worldSize, group -> Training.of(config, squares).on(group).start(target));
        assertEquals(Collections.nCopies(worldSize, Outcome.FINISHED), outcomes);

        List<Double> expected = losses("alone");
        List<Double> found = losses("ranks");
        assertEquals(16, found.size());
        for (int i = 0; i < found.size(); i++) {
            assertEquals(expected.get(i), found.get(i), 1e-6 * expected.get(i), "loss " + i);
        }
        assertEquals(0, difference(last("ranks"), last("alone")), 1e-6);
    }

    @Test
    void atssRanksEqualOneRankWithALargerBatch() throws IOException {
        // Of more photographs, batches of two would not be those that two ranks see at a time.
        squares = Squares.draw(Files.createDirectories(folder.resolve("two")), 2);
        String atss =
                "model.head={type: atss, feat_channels: 16, stacked_convs: 1, norm_groups: 4,"
                        + " octave_base_scale: 3, scales_per_octave: 3}";
        RunConfig alone = config(atss, "iterations=8", "data.batch_size=2");
        Training.of(alone, squares).start(folder.resolve("alone"));

        List<Object> outcomes = train(2, "ranks", Training::start, config(atss, "iterations=8"));

        assertEquals(List.of(Outcome.FINISHED, Outcome.FINISHED), outcomes);
        assertEquals(0, difference(last("ranks"), last("alone")), 1e-6);
    }

    @Test
    void stopsOnOneRankAndResumesOnAll() throws IOException {
        RunConfig config = config("evaluation.every.epochs=1");
        List<Object> whole = train(2, "whole", Training::start, config);
        assertEquals(List.of(Outcome.FINISHED, Outcome.FINISHED), whole);

        Path target = folder.resolve("parts");
        List<Object> stopped =
                Ranks.together(
                        2,
                        group -> {
                            Training training = Training.of(config, squares, squares).on(group);
                            Hook stop =
                                    afterStep(
                                            (run, step) -> {
                                                if (group.rank() == 1 && step.iteration() == 3) {
                                                    training.stop();
                                                }
                                            });
                            return training.start(target, stop);
                        });
        assertEquals(List.of(Outcome.INTERRUPTED, Outcome.INTERRUPTED), stopped);
        List<Object> resumed = train(2, "parts", Training::resume, config);
        assertEquals(List.of(Outcome.FINISHED, Outcome.FINISHED), resumed);
        assertArrayEquals(bytes("whole"), bytes("parts"));
    }

    private static Hook afterStep(BiConsumer<Run, StepReport> action) {
        return new Hook() {
            @Override
            public void afterStep(Run run, StepReport step) {
                action.accept(run, step);
            }
        };
    }

    @Test
    void hookRequestsOfOneRankApplyToAll() {
        Map<Integer, List<String>> seen = new ConcurrentHashMap<>();
        List<Object> outcomes =
                Ranks.together(
                        3,
                        group -> {
                            List<String> events = new ArrayList<>();
                            seen.put(group.rank(), events);
                            Hook asks =
                                    new Hook() {
                                        @Override
                                        public void beforeStep(Run run) {
                                            run.setLearningRate(run.ranks().rank() == 0 ? 0 : 9);
                                        }

                                        @Override
                                        public void afterStep(Run run, StepReport step) {
                                            if (group.rank() == 1 && step.iteration() == 1) {
                                                run.requestEvaluation();
                                            }
                                            if (group.rank() == 2 && step.iteration() == 2) {
                                                run.stop("enough");
                                            }
                                        }

                                        @Override
                                        public void afterEvaluation(
                                                Run run, EvaluationReport report) {
                                            events.add(report.iteration() + " " + report.metrics());
                                        }
                                    };
                            return Training.of(config(), squares, squares)
                                    .on(group)
                                    .start(folder.resolve("run"), asks);
                        });
        assertEquals(Collections.nCopies(3, Outcome.STOPPED_EARLY), outcomes);
        assertEquals(2, seen.get(0).size());
        assertTrue(seen.get(0).get(0).startsWith("1 "), seen.toString());
        // With the learning rate of rank 0, which is 0, nothing has been learned between them.
        assertEquals(seen.get(0).get(0).substring(1), seen.get(0).get(1).substring(1));
        assertEquals(seen.get(0), seen.get(1));
        assertEquals(seen.get(0), seen.get(2));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void stopsAllRanksIfOneIsStopped(int stopping) {
        for (boolean inEpoch : List.of(true, false)) {
            Path target = folder.resolve("run" + inEpoch);
            List<Object> outcomes =
                    Ranks.together(
                            2,
                            group -> {
                                Hook stop =
                                        new Hook() {
                                            @Override
                                            public void beforeEpoch(Run run) {
                                                if (inEpoch && run.ranks().rank() == stopping) {
                                                    run.stop("before the epoch");
                                                }
                                            }

                                            @Override
                                            public void afterEvaluation(
                                                    Run run, EvaluationReport report) {
                                                if (run.ranks().rank() == stopping) {
                                                    run.stop("measured");
                                                }
                                            }
                                        };
                                return Training.of(config(), squares, squares)
                                        .on(group)
                                        .start(target, stop);
                            });
            assertEquals(Collections.nCopies(2, Outcome.STOPPED_EARLY), outcomes);
        }
    }

    private static String messageOf(Object result, SaccadeException.Kind kind) {
        SaccadeException error = assertInstanceOf(SaccadeException.class, result);
        assertEquals(kind, error.kind(), error.getMessage());
        return error.getMessage();
    }

    @Test
    void rejectsARankWithAnotherConfig() throws IOException {
        Squares others = Squares.draw(Files.createDirectories(folder.resolve("others")), 8);
        List<Object> results =
                Ranks.together(
                        2,
                        group -> {
                            boolean first = group.rank() == 0;
                            return Training.of(
                                            first ? config() : config("data.batch_size=2"),
                                            first ? squares : others,
                                            first ? squares : others)
                                    .on(group)
                                    .start(folder.resolve("run"));
                        });
        String own = messageOf(results.get(1), SaccadeException.Kind.USER);
        assertTrue(own.contains("data.batch_size: is 2 on rank 1, 1 on rank 0"), own);
        assertTrue(own.contains("training data"), own);
        assertTrue(own.contains("data.val"), own);
        String told = messageOf(results.get(0), SaccadeException.Kind.IO);
        assertTrue(
                told.contains(
                        "rank 1 has ended: all ranks need the same config, data and Saccade version"),
                told);
    }

    @Test
    void nonFiniteLossOnOneRankEndsAllRanks() {
        Dataset photos = squares;
        List<Object> results =
                Ranks.together(
                        2,
                        group ->
                                Training.of(config("max_gradient_norm=null"), photos)
                                        .on(group)
                                        .start(folder.resolve("run"), poison(group)));
        String own = messageOf(results.get(1), SaccadeException.Kind.USER);
        assertTrue(own.startsWith("step 3: the loss is not finite"), own);
        String told = messageOf(results.get(0), SaccadeException.Kind.IO);
        assertTrue(told.startsWith("rank 0: rank 1 has ended: step 3: the loss is not"), told);
    }

    /** Breaks the weights of rank 1 after two steps, as a machine does that miscalculates. */
    private static Hook poison(ProcessGroup group) {
        return afterStep(
                (run, step) -> {
                    if (group.rank() == 1 && step.iteration() == 2) {
                        NoGrad.run(
                                () ->
                                        run.model()
                                                .namedParameters()
                                                .get("bbox_head.retina_cls.bias")
                                                .getArray()
                                                .muli(Float.NaN));
                    }
                });
    }

    @Test
    void resumesWithOtherRanks() throws IOException {
        RunConfig two = config("accumulation=2");
        Training.of(config("accumulation=4"), squares).start(folder.resolve("alone"));
        stopAfter(2, two, 2);
        String refused =
                messageOf(
                        Ranks.together(2, g -> resume(g, config("accumulation=1"))).get(0),
                        SaccadeException.Kind.USER);
        assertTrue(
                refused.contains("step 2 is inside an epoch of 3 steps, but the run had 2 ranks"),
                refused);
        stopAfterResume(4, config("accumulation=1"), 3);
        assertEquals(Outcome.FINISHED, resume(ProcessGroup.alone(), config("accumulation=4")));
        assertEquals(0, difference(last("run"), last("alone")), 1e-6);
        String log = Files.readString(new RunFolder(folder.resolve("run")).log());
        assertTrue(log.contains("the run had 2 ranks and 4 batches per step, now it has 4"), log);

        assertEquals(
                Outcome.FINISHED,
                resume(ProcessGroup.alone(), config("accumulation=1", "epochs=4")));
        assertEquals("36", last("run").metadata().get("run.iteration"));
    }

    private Outcome resume(ProcessGroup group, RunConfig config) {
        return Training.of(config, squares).on(group).resume(folder.resolve("run"));
    }

    private void stopAfter(int worldSize, RunConfig config, int step) {
        stop(worldSize, config, step, Training::start);
    }

    private void stopAfterResume(int worldSize, RunConfig config, int step) {
        stop(worldSize, config, step, Training::resume);
    }

    private interface Begin {
        Outcome run(Training training, Path folder, Hook... hooks);
    }

    private void stop(int worldSize, RunConfig config, int step, Begin begin) {
        List<Object> outcomes =
                Ranks.together(
                        worldSize,
                        group -> {
                            Training training = Training.of(config, squares).on(group);
                            Hook stop =
                                    afterStep(
                                            (run, report) -> {
                                                if (report.iteration() == step) {
                                                    training.stop();
                                                }
                                            });
                            return begin.run(training, folder.resolve("run"), stop);
                        });
        assertEquals(Collections.nCopies(worldSize, Outcome.INTERRUPTED), outcomes);
    }

    @Test
    void fullDiskOnRank0EndsAllRanks() {
        FailingDisk disk = new FailingDisk();
        Path target = disk.wrapPath(folder.resolve("run"));
        Hook fill =
                afterStep(
                        (run, step) -> {
                            if (step.iteration() == 3 && run.ranks().rank() == 0) {
                                disk.failAt(1, FailingDisk.Fault.FULL);
                            }
                        });
        RunConfig config = config("checkpoint.every.iterations=2");
        List<Object> results =
                Ranks.together(
                        2, group -> Training.of(config, squares).on(group).start(target, fill));
        disk.recover();
        messageOf(results.get(0), SaccadeException.Kind.IO);
        String told = messageOf(results.get(1), SaccadeException.Kind.IO);
        assertTrue(told.startsWith("rank 1: rank 0 has ended: "), told);
        assertEquals("2", last("run").metadata().get("run.iteration"));
    }
}
