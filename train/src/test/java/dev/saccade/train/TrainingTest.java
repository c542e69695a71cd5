package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.util.concurrent.Uninterruptibles;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.TaskProgress;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.transforms.NamedAugmentations;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.eval.coco.CocoAverages;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.eval.detection.DetectionMetrics;
import dev.saccade.eval.segmentation.SegmentationMetrics;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;
import dev.saccade.train.logs.MemoryUse;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

class TrainingTest {

    @TempDir private Path folder;

    @BeforeEach
    void writeData() throws IOException {
        CellRun.writeData(folder);
    }

    private RunConfig config(String... overrides) throws IOException {
        return CellRun.config(folder, overrides);
    }

    @Test
    void writesLogsAndADetector() throws IOException {
        Path run = folder.resolve("run");
        List<EvaluationReport> evaluations = new ArrayList<>();
        Hook hook =
                new Hook() {
                    @Override
                    public void afterEvaluation(Run run, EvaluationReport evaluation) {
                        evaluations.add(evaluation);
                    }
                };
        assertEquals(Outcome.FINISHED, Training.of(config()).start(run, hook));
        assertEquals(2, evaluations.size());
        assertTrue(evaluations.get(1).metrics().containsKey("AP50"));
        RunFolder files = new RunFolder(run);
        String log = Files.readString(files.log());
        assertTrue(log.contains("scaled to 5.0E-4"), log);
        assertTrue(log.contains("step 6/6"), log);
        assertEquals(5, Files.readAllLines(files.metrics()).size());
        assertEquals(config(), Training.config(run));
        try (Detector detector = Detector.load(files.best())) {
            assertEquals(List.of("cell"), detector.classes());
        }
    }

    @Test
    void monitorReportsStepsAndCancelsFromAnotherThread() throws Exception {
        Path run = folder.resolve("run");
        List<TaskProgress> steps = new ArrayList<>();
        CountDownLatch second = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        TaskMonitor monitor =
                new TaskMonitor(
                        progress -> {
                            steps.add(progress);
                            if (progress.done() == 2) {
                                second.countDown();
                                Uninterruptibles.awaitUninterruptibly(cancelled);
                            }
                        });
        Thread other =
                new Thread(
                        () -> {
                            Uninterruptibles.awaitUninterruptibly(second);
                            monitor.cancel();
                            cancelled.countDown();
                        });
        other.start();
        Training training = Training.of(config()).with(monitor);
        assertEquals(Outcome.INTERRUPTED, training.start(run));
        other.join();
        assertEquals(List.of(1L, 2L), steps.stream().map(TaskProgress::done).toList());
        TaskProgress last = steps.get(1);
        assertEquals("train", last.task());
        assertEquals(6, last.total());
        assertEquals(0, last.epoch().orElseThrow());
        assertTrue(last.loss().orElseThrow() > 0, last.toString());
        assertTrue(last.remaining().orElseThrow().toNanos() > 0, last.toString());
        assertEquals(Optional.empty(), training.lastEvaluation());

        Training resumed = Training.of(config());
        assertEquals(Outcome.FINISHED, resumed.resume(run));
        EvaluationReport report = resumed.lastEvaluation().orElseThrow();
        assertEquals(6, report.iteration());
        CocoAverages boxes = report.find(DetectionMetrics.class).orElseThrow().boxes();
        assertEquals(report.metrics().get("AP"), boxes.ap());
        assertEquals(report.metrics().get("AP50"), boxes.ap50());
        assertEquals("cell", boxes.perClass().get(0).name());
        assertEquals(Optional.empty(), report.find(SegmentationMetrics.class));
        assertTrue(resumed.bestEvaluation().isPresent());
    }

    @Test
    void rejectsASecondTrainingInTheFolder() throws IOException {
        Path target = folder.resolve("run");
        RunConfig config = config();
        List<SaccadeException> refusals = new ArrayList<>();
        Hook intruder =
                new Hook() {
                    @Override
                    public void afterStep(Run run, StepReport step) {
                        Training second = Training.of(config);
                        refusals.add(
                                assertThrows(SaccadeException.class, () -> second.start(target)));
                        refusals.add(
                                assertThrows(SaccadeException.class, () -> second.resume(target)));
                    }
                };
        assertEquals(Outcome.FINISHED, Training.of(config).start(target, intruder));
        assertEquals(12, refusals.size());
        String process = "process " + ProcessHandle.current().pid();
        for (SaccadeException e : refusals) {
            assertTrue(e.getMessage().contains(process), e.getMessage());
        }
        assertEquals(5, Files.readAllLines(new RunFolder(target).metrics()).size());
    }

    @Test
    void evaluatesWithoutTtaAndStoresTheNamedTta() throws IOException {
        String transforms =
                "data.val_transforms=[{type: resize, scales: [[40, 32]]}, {type: normalize}]";
        String tta = "data.tta={larger: {scales: [[40, 32], [80, 64]], flip: true}}";
        List<Map<String, Double>> measured = new ArrayList<>();
        Hook hook =
                new Hook() {
                    @Override
                    public void afterEvaluation(Run run, EvaluationReport evaluation) {
                        measured.add(evaluation.metrics());
                    }
                };
        Path run = folder.resolve("run");
        Training.of(config("epochs=1", transforms, tta, "data.val_tta=larger")).start(run, hook);
        RunConfig config = Training.config(run);
        Dataset val = config.data().val().orElseThrow().open(folder);
        try (Detector detector = Detector.load(new RunFolder(run).last())) {
            NamedAugmentations stored = detector.spec().tta();
            assertEquals(config.data().tta(), stored);
            TestTimeAugmentation larger = stored.named(stored.valTta().orElseThrow()).orElseThrow();
            assertEquals(
                    new TestTimeAugmentation(List.of(List.of(40, 32), List.of(80, 64)), true),
                    larger);
            assertEquals(1, detector.pipelines().size());
            assertEquals(4, detector.withTta(larger).pipelines().size());
            DetectionEvaluation again = DetectionEvaluator.evaluate(detector, val);
            again.values()
                    .forEach((name, value) -> assertEquals(measured.get(0).get(name), value, name));
            assertEquals(
                    again.scoreThresholds().orElse(ScoreThresholds.DEFAULT),
                    detector.scoreThresholds());
        }

        SaccadeException unfit = assertThrows(SaccadeException.class, () -> config(tta));
        assertTrue(
                unfit.getMessage().contains("data.tta.larger.transforms: got [normalize, pad]"),
                unfit.getMessage());
    }

    @Test
    void checkpointsContainTheAverages() throws IOException {
        Path run = folder.resolve("run");
        Training.of(config("ema={decay: 0.9, warmup: 0}", "model.head.nms.score_thr=0", "epochs=1"))
                .start(run);
        RunFolder files = new RunFolder(run);
        Checkpoint last = Checkpoints.open(files.last());
        Map<String, Tensor> trained = new LinkedHashMap<>(Checkpoints.open(files.best()).tensors());
        trained.replaceAll(
                (name, average) -> last.tensors().getOrDefault("ema.trained." + name, average));
        Path other = folder.resolve("trained.safetensors");
        SafeTensors.write(other, new Checkpoint(trained, last.metadata()));

        List<DetectedObject> found = detect(files.best());
        assertFalse(found.isEmpty());
        assertEquals(found, detect(files.last()));
        assertNotEquals(found, detect(other));

        SaccadeException changed =
                assertThrows(
                        SaccadeException.class,
                        () -> Training.of(Training.config(run).with("ema=null")).resume(run));
        assertTrue(changed.getMessage().contains("ema.decay: was 0.9"), changed.getMessage());
    }

    private List<DetectedObject> detect(Path checkpoint) {
        try (Detector detector = Detector.load(checkpoint)) {
            return detector.detect(folder.resolve("1.png"), 0);
        }
    }

    @Test
    void memoryIsFlatOver500StepsAnd500Predictions() throws IOException {
        Path run = folder.resolve("run");
        List<MemoryUse> training = new ArrayList<>();
        Hook hook =
                new Hook() {
                    @Override
                    public void afterStep(Run run, StepReport step) {
                        if (step.iteration() % 100 == 0) {
                            training.add(MemoryUse.now(run.manager()));
                        }
                    }
                };
        Training.of(config("iterations=500", "data.val=null", "ema={interval: 2}"))
                .start(run, hook);
        assertFlat(training);

        List<MemoryUse> predicting = new ArrayList<>();
        try (NDManager any = NDManager.newBaseManager();
                Detector detector = Detector.load(new RunFolder(run).last())) {
            for (int i = 1; i <= 500; i++) {
                detector.detect(folder.resolve(i % 8 + ".png"));
                if (i % 100 == 0) {
                    predicting.add(MemoryUse.now(any));
                }
            }
        }
        assertFlat(predicting);
    }

    /** The resident size swings with Java's heap, so it is held against the most before. */
    private static void assertFlat(List<MemoryUse> uses) {
        MemoryUse last = uses.get(4);
        assertEquals(uses.get(1).arrays(), last.arrays(), uses.toString());
        long most = uses.subList(0, 3).stream().mapToLong(MemoryUse::residentBytes).max().orElse(0);
        assertTrue(last.residentBytes() < most + (48 << 20), uses.toString());
    }

    @Test
    void reportsTheFileOfNonFiniteWeights() throws IOException {
        Path first = folder.resolve("first");
        Training.of(config("epochs=1")).start(first);
        Map<String, Tensor> weights =
                new LinkedHashMap<>(Checkpoints.open(new RunFolder(first).last()).tensors());
        float[] broken = new float[16];
        broken[9] = Float.NaN;
        weights.put("neck.fpn_convs.0.conv.bias", Tensor.of(new Shape(16), broken));
        Path file = folder.resolve("diverged.safetensors");
        SafeTensors.write(file, new Checkpoint(weights, Map.of()));
        Training training = Training.of(config("init_from=" + file));
        SaccadeException told =
                assertThrows(
                        SaccadeException.class, () -> training.start(folder.resolve("from-nan")));
        assertTrue(
                told.getMessage()
                        .startsWith(
                                file
                                        + ": the checkpoint cannot be used: weights of"
                                        + " neck.fpn_convs.0.conv.bias are NaN or infinite"),
                told.getMessage());
    }

    @Test
    void startsFromADetectorOfOtherClassesWithAFrozenAndASlowBackbone() throws IOException {
        Path first = folder.resolve("first");
        Training.of(config("epochs=1")).start(first);
        Checkpoint before = Checkpoints.open(new RunFolder(first).last());
        Path labels = folder.resolve("labels.json");
        Files.writeString(
                labels,
                Files.readString(labels)
                        .replace(
                                "{\"id\":7,\"name\":\"cell\"}",
                                "{\"id\":7,\"name\":\"cell\"},{\"id\":9,\"name\":\"dirt\"}"));
        Path second = folder.resolve("second");
        Training.of(
                        config(
                                "epochs=1",
                                "init_from=" + new RunFolder(first).last(),
                                "model.backbone.frozen_stages=2",
                                "optimizer.layer_decay={rate: 0.5}"))
                .start(second);

        String log = Files.readString(new RunFolder(second).log());
        assertTrue(log.contains("classes matched by name: 1 of 2"), log);
        assertTrue(log.contains("initialized from scratch: dirt"), log);
        assertFalse(log.contains("unexpected"), log);
        Map<String, Tensor> after = Checkpoints.open(new RunFolder(second).last()).tensors();
        after.forEach(
                (name, tensor) -> {
                    boolean frozen = name.matches("backbone\\.(conv1|bn1|layer[12])\\..*");
                    boolean learned = name.matches("(backbone\\.layer[34]|neck|bbox_head).*weight");
                    if (frozen || learned) {
                        assertEquals(frozen, tensor.equals(before.tensors().get(name)), name);
                    }
                });
        assertTrue(after.containsKey("backbone.layer2.0.bn1.running_mean"));
        assertTrue(after.containsKey("optimizer.exp_avg.backbone.layer3.0.conv1.weight"));
        assertFalse(after.keySet().stream().anyMatch(name -> name.matches("optimizer.*layer2.*")));
    }

    @Test
    void explainsOutOfMemory() throws IOException {
        Hook greedy =
                new Hook() {
                    @Override
                    public void afterStep(Run run, StepReport step) {
                        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
                            manager.zeros(new Shape(1L << 48));
                        }
                    }
                };
        Training training = Training.of(config());

        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> training.start(folder.resolve("run"), greedy));

        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(e.getMessage().contains("data.batch_size"), e.getMessage());
        assertTrue(e.getMessage().contains("activation_checkpointing=true"), e.getMessage());
        assertTrue(e.getMessage().contains("allocate 1125899906842624 bytes"), e.getMessage());
    }
}
