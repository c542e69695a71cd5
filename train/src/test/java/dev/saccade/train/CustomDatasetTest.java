package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.ImageFile;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.eval.segmentation.SegmentationEvaluator;
import dev.saccade.models.Detector;
import dev.saccade.models.Segmenter;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

/** Trains, stops, resumes and measures from code, on data sets that no file describes. */
class CustomDatasetTest {

    private static final String CONFIG =
            """
            model:
              backbone: {type: resnet, depth: 18, stem_channels: 8, base_channels: 8}
              neck: {type: fpn, out_channels: 16, start_level: 1, num_outs: 3}
              head: {type: retinanet, feat_channels: 16, stacked_convs: 1}
            data:
              train_transforms: [{type: random_flip}, {type: normalize}, {type: pad}]
              val_transforms: [{type: normalize}, {type: pad}]
            optimizer: {type: adamw, learning_rate: 0.001}
            schedule: {type: constant}
            epochs: 3
            """;

    private static final String SEGMENTER =
            """
            model:
              backbone: {type: resnet, depth: 18, stem_channels: 8, base_channels: 8}
              neck: {type: fpn, out_channels: 8, num_outs: 4}
              head: {type: semantic_fpn, channels: 8}
            data:
              train_transforms: [{type: random_flip}, {type: normalize}, {type: pad}]
              val_transforms: [{type: normalize}, {type: pad}]
            epochs: 1
            """;

    @TempDir private Path folder;
    private Squares squares;

    @BeforeEach
    void draw() throws IOException {
        squares = Squares.draw(Files.createDirectories(folder.resolve("photos")), 8);
    }

    private static Hook onStep(long step, Runnable action) {
        return new Hook() {
            @Override
            public void afterStep(Run run, StepReport report) {
                if (report.iteration() == step) {
                    action.run();
                }
            }
        };
    }

    private static byte[] last(Path run) throws IOException {
        return Files.readAllBytes(new RunFolder(run).last());
    }

    private static String messageOf(Runnable work) {
        SaccadeException e = assertThrows(SaccadeException.class, work::run);
        assertEquals(SaccadeException.Kind.USER, e.kind(), e.getMessage());
        return e.getMessage();
    }

    @Test
    void stopsFromAnotherThreadAndResumes()
            throws IOException, InterruptedException, ExecutionException {
        RunConfig config = RunConfig.parse(CONFIG);
        Map<String, Double> measured = new HashMap<>();
        Path whole = folder.resolve("whole");
        assertEquals(Outcome.FINISHED, Training.of(config, squares, squares).start(whole));

        Training training = Training.of(config, squares, squares);
        Path parts = folder.resolve("parts");
        CountDownLatch seen = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        Hook waits =
                onStep(
                        5,
                        () -> {
                            seen.countDown();
                            await(stopped);
                        });
        CompletableFuture<Outcome> running =
                CompletableFuture.supplyAsync(
                        () -> training.start(parts, waits), task -> new Thread(task).start());
        await(seen);
        assertThrows(IllegalStateException.class, () -> training.resume(parts));
        training.stop();
        stopped.countDown();
        assertEquals(Outcome.INTERRUPTED, running.get());

        Hook keeps =
                new Hook() {
                    @Override
                    public void afterEvaluation(Run run, EvaluationReport evaluation) {
                        if (evaluation.best()) {
                            measured.putAll(evaluation.metrics());
                        }
                    }
                };
        assertEquals(Outcome.FINISHED, training.resume(parts, keeps));
        assertArrayEquals(last(whole), last(parts));

        try (Detector detector = Detector.load(new RunFolder(parts).best())) {
            DetectionEvaluation found = DetectionEvaluator.evaluate(detector, squares);
            measured.forEach((name, value) -> assertEquals(value, found.values().get(name), name));
            assertTrue(found.values().containsKey("AP50"));
            String message =
                    messageOf(
                            () ->
                                    DetectionEvaluator.evaluate(
                                            detector,
                                            new Squares(List.of("disc"), squares.images())));
            assertTrue(message.contains("the data set has [disc]"), message);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aHookStopsItAfterSomeSteps() throws IOException {
        Training training = Training.of(RunConfig.parse(CONFIG), squares);
        Path run = folder.resolve("run");
        training.stop();
        assertEquals(Outcome.INTERRUPTED, training.start(run, onStep(3, training::stop)));
        assertTrue(Files.readString(new RunFolder(run).log()).contains("8 images, 1 class,"));
        List<Long> steps = new ArrayList<>();
        Hook hook =
                new Hook() {
                    @Override
                    public void afterStep(Run run, StepReport step) {
                        steps.add(step.iteration());
                    }
                };
        assertEquals(Outcome.FINISHED, training.resume(run, hook));
        assertEquals(List.of(4L, 12L, 9), List.of(steps.get(0), steps.get(8), steps.size()));
        assertFalse(Files.exists(new RunFolder(run).bestWeights()), "measured on nothing");
    }

    @Test
    void theConfigOfTheRunNamesNoDataSet() {
        RunConfig named = RunConfig.parse(CONFIG).with("data.train.type=coco", "epochs=1");
        Path run = folder.resolve("run");
        Training.of(named, squares).start(run);
        RunConfig written = Training.config(run);
        assertEquals(RunConfig.parse(CONFIG).with("epochs=1"), written);
        String missing = messageOf(() -> Training.of(written));
        assertTrue(missing.contains("data.train: missing"), missing);

        Squares fewer = new Squares(squares.classes(), squares.images().subList(1, 8));
        String other = messageOf(() -> Training.of(written, fewer).resume(run));
        assertTrue(
                other.contains(
                        "belongs to another run: the images or labels of data.train have changed;"
                                + " resume"),
                other);
    }

    @Test
    void trainsAgainAfterAFailedRun() throws InterruptedException {
        Training training = Training.of(RunConfig.parse(CONFIG).with("epochs=1"), squares);
        List<String> closed = new ArrayList<>();
        Hook fails =
                new Hook() {
                    @Override
                    public void afterStep(Run run, StepReport step) {
                        throw new UnsupportedOperationException("step " + step.iteration());
                    }

                    @Override
                    public void close() {
                        closed.add("closed");
                    }
                };
        for (int i = 0; i < 2; i++) {
            Path failed = folder.resolve("failed" + i);
            String failure = messageOf(() -> training.start(failed, fails));
            assertTrue(failure.contains("CustomDatasetTest$"), failure);
            assertTrue(failure.contains("failed in afterStep"), failure);
            assertTrue(failure.contains("UnsupportedOperationException: step 1"), failure);
            Path good = folder.resolve("good" + i);
            assertEquals(Outcome.FINISHED, training.start(good));
            assertTrue(messageOf(() -> training.start(good, fails)).contains("not empty"));
        }
        assertEquals(4, closed.size());
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().matches("(data-loader|dataset-check|saccade-eval).*")) {
                thread.join(10_000);
                assertFalse(thread.isAlive(), thread.getName());
            }
        }
    }

    @Test
    void reportsAllErrorsBeforeWritingAnything() {
        List<ImageFile> photos = new ArrayList<>(squares.images());
        photos.set(2, new ImageFile(1, folder.resolve("gone.png"), Squares.SIZE));
        Squares faulty = new Squares(squares.classes(), photos);
        Squares others = new Squares(List.of("disc"), squares.images());
        Path run = folder.resolve("run");
        Training training = Training.of(RunConfig.parse(CONFIG), faulty, others);
        List<String> closed = new ArrayList<>();
        Hook hook =
                new Hook() {
                    @Override
                    public void close() {
                        closed.add("closed");
                    }
                };
        String message = messageOf(() -> training.start(run, hook));
        assertEquals(
                String.format(
                        Locale.ROOT,
                        "the data set has errors; training did not start: 3 problems%n"
                                + "  - data.train: data set: image 1: id occurs twice%n"
                                + "  - data.train: %s: image 1: no such file%n"
                                + "  - data.val: lacks the class \"square\" of data.train and has"
                                + " the class \"disc\", which data.train lacks; use the same"
                                + " classes in the same order",
                        folder.resolve("gone.png")),
                message);
        assertFalse(Files.exists(run));
        assertEquals(List.of("closed"), closed);

        Training empty =
                Training.of(
                        RunConfig.parse(CONFIG), new Squares.Pixels(List.of("thing"), photos(3)));
        assertTrue(messageOf(() -> empty.start(run)).contains("none of 3 images contains a thing"));
        assertFalse(Files.exists(run));
    }

    private List<ImageFile> photos(int count) {
        return squares.images().subList(0, count);
    }

    @Test
    void trainsASegmenter() {
        Squares.Pixels pixels = new Squares.Pixels(List.of("ground", "square"), squares.images());
        Map<String, Double> measured = new HashMap<>();
        Hook hook =
                new Hook() {
                    @Override
                    public void afterEvaluation(Run run, EvaluationReport evaluation) {
                        measured.putAll(evaluation.metrics());
                    }
                };
        Path run = folder.resolve("run");
        Training.of(RunConfig.parse(SEGMENTER), pixels, pixels).start(run, hook);
        try (Segmenter segmenter = Segmenter.load(new RunFolder(run).best())) {
            assertEquals(measured, SegmentationEvaluator.evaluate(segmenter, pixels).values());
        }
        String message =
                messageOf(
                        () ->
                                Training.of(RunConfig.parse(SEGMENTER), squares)
                                        .start(folder.resolve("objects")));
        assertTrue(message.contains("has labeled objects but no label map"));
    }
}
