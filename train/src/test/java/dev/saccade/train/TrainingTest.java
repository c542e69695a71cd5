package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.models.ModelSpec;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;
import dev.saccade.train.logs.MemoryUse;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

class TrainingTest {

    private static final String CONFIG =
            """
            model:
              backbone: {type: resnet, depth: 18, stem_channels: 8, base_channels: 8}
              neck: {type: fpn, out_channels: 16, start_level: 1, num_outs: 3}
              head: {type: retinanet, feat_channels: 16, stacked_convs: 1}
            data:
              train: {type: coco, annotations: labels.json, images: .}
              val: {type: coco, annotations: labels.json, images: .}
              train_transforms: [{type: random_flip}, {type: normalize}, {type: pad}]
              val_transforms: [{type: normalize}, {type: pad}]
            optimizer: {type: adamw, learning_rate: 0.001}
            schedule: {type: constant}
            reference_batch: 4
            log_interval: 2
            epochs: 2
            """;

    @TempDir private Path folder;

    @BeforeEach
    void writeData() throws IOException {
        TinyRun.Photos.in(folder);
        StringBuilder images = new StringBuilder();
        StringBuilder boxes = new StringBuilder();
        for (int i = 0; i < 6; i++) {
            String comma = i == 0 ? "" : ",";
            images.append(comma)
                    .append("{\"id\":%d,\"file_name\":\"%d.png\",".formatted(i + 1, i))
                    .append("\"width\":40,\"height\":32}");
            boxes.append(comma)
                    .append("{\"id\":%d,\"image_id\":%d,\"category_id\":7,".formatted(i + 1, i + 1))
                    .append("\"bbox\":[%d,4,16,20],\"area\":320,\"iscrowd\":0}".formatted(2 * i));
        }
        Files.writeString(
                folder.resolve("labels.json"),
                "{\"images\":["
                        + images
                        + "],\"annotations\":["
                        + boxes
                        + "],\"categories\":[{\"id\":7,\"name\":\"cell\"}]}");
    }

    private RunConfig config(String... overrides) throws IOException {
        Path file = Files.writeString(folder.resolve("run.yaml"), CONFIG);
        return RunConfig.load(file, overrides).with("data.root=" + folder);
    }

    private static byte[] last(Path run) throws IOException {
        return Files.readAllBytes(new RunFolder(run).last());
    }

    @Test
    void leavesLogsAndADetector() throws IOException {
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
    void aSecondTrainingInTheFolderIsRefusedAndHarmsNothing() throws IOException {
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
    void measuresAndPredictsInTheViewsThatTheConfigAsksFor() throws IOException {
        String transforms =
                "data.val_transforms=[{type: resize, scales: [[40, 32]]}, {type: normalize}]";
        String views = "data.val_views={scales: [[40, 32], [80, 64]], flip: true}";
        List<Map<String, Double>> measured = new ArrayList<>();
        Hook hook =
                new Hook() {
                    @Override
                    public void afterEvaluation(Run run, EvaluationReport evaluation) {
                        measured.add(evaluation.metrics());
                    }
                };
        Path run = folder.resolve("run");
        Training.of(config("epochs=1", transforms, views)).start(run, hook);
        RunConfig config = Training.config(run);
        Dataset val = config.data().val().orElseThrow().open(folder);
        try (Detector detector = Detector.load(new RunFolder(run).last())) {
            assertEquals(
                    new TestTimeAugmentation(List.of(List.of(40, 32), List.of(80, 64)), true),
                    detector.spec().views().orElseThrow());
            assertEquals(4, detector.spec().viewTransforms().size());
            DetectionEvaluation again = DetectionEvaluator.evaluate(detector, val);
            again.values()
                    .forEach((name, value) -> assertEquals(measured.get(0).get(name), value, name));
        }

        SaccadeException unfit = assertThrows(SaccadeException.class, () -> config(views));
        assertTrue(
                unfit.getMessage().contains("data.val_views: got the transforms [normalize, pad]"),
                unfit.getMessage());
    }

    @Test
    void whoeverLoadsACheckpointHasTheAverages() throws IOException {
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
        assertTrue(
                changed.getMessage().contains("ema.decay: was 0.9, is nothing"),
                changed.getMessage());
    }

    private List<DetectedObject> detect(Path checkpoint) {
        try (Detector detector = Detector.load(checkpoint)) {
            return detector.detect(folder.resolve("1.png"));
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
        assertTrue(log.contains("2 classes here, 1 there: made anew: bbox_head.retina_cls"), log);
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
    void goesOnForMoreEpochsAsIfItHadBeenAskedToAtOnce() throws IOException {
        Path whole = folder.resolve("whole");
        Path parts = folder.resolve("parts");
        Training.of(config("epochs=3")).start(whole);
        Training.of(config()).start(parts);
        Training.of(config("epochs=3", "data.workers=1")).resume(parts);
        assertArrayEquals(last(whole), last(parts));
    }

    @Test
    void goesOnWithAnotherDevice() throws IOException {
        Path whole = folder.resolve("whole");
        Path parts = folder.resolve("parts");
        Training.of(config("epochs=3", "device=cpu")).start(whole);
        Training.of(config("device=cpu")).start(parts);
        Path written = new RunFolder(parts).config();
        String told = Files.readString(written);
        assertTrue(told.contains("device: cpu"), told);
        Files.writeString(written, told.replace("device: cpu", "device: cuda:3"));
        Training.of(config("epochs=3", "device=cpu")).resume(parts);
        assertArrayEquals(last(whole), last(parts));
        assertEquals("cpu", Training.config(parts).device());
    }

    @Test
    void refusesADeviceThatIsNotThere() throws IOException {
        Path run = folder.resolve("run");
        SaccadeException refused =
                assertThrows(
                        SaccadeException.class,
                        () -> Training.of(config("device=cuda:999")).start(run));
        assertEquals(SaccadeException.Kind.USER, refused.kind());
        assertTrue(refused.getMessage().startsWith("cuda:999: "), refused.getMessage());
        assertFalse(Files.exists(run), "nothing is begun");
        SaccadeException unknown = assertThrows(SaccadeException.class, () -> config("device=gpu"));
        assertTrue(
                unknown.getMessage().contains("device: got gpu, expected auto, cpu, cuda or"),
                unknown.getMessage());
    }

    @Test
    void refusesToResumeAnotherRun() throws IOException {
        Path run = folder.resolve("run");
        Training.of(config("epochs=1")).start(run);
        SaccadeException changed =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                Training.of(config("seed=3", "optimizer.learning_rate=0.1"))
                                        .resume(run));
        assertTrue(changed.getMessage().contains("seed: was 0, is 3"), changed.getMessage());
        assertTrue(
                changed.getMessage().contains("optimizer.learning_rate: was 0.001, is 0.1"),
                changed.getMessage());
        Path labels = folder.resolve("labels.json");
        Files.writeString(labels, Files.readString(labels).replace("[2,4,16,20]", "[2,4,16,24]"));
        SaccadeException data =
                assertThrows(SaccadeException.class, () -> Training.of(config()).resume(run));
        assertTrue(data.getMessage().contains("run.data is not the same"), data.getMessage());
    }

    /** Rewrites what the newest state says of its model, in all else as it is. */
    private static void retell(Path run, UnaryOperator<String> model) {
        Path last = new RunFolder(run).last();
        Checkpoint state = SafeTensors.read(last);
        Map<String, String> metadata = new HashMap<>(state.metadata());
        String told = metadata.get(ModelSpec.KEY);
        metadata.put(ModelSpec.KEY, model.apply(told));
        assertNotEquals(told, metadata.get(ModelSpec.KEY));
        SafeTensors.write(last, new Checkpoint(state.tensors(), metadata));
    }

    /** Before heads had a {@code loss_cls}, the settings of RetinaNet's were its own. */
    private static String earlier(String model) {
        return model.replaceFirst(
                "(?m)^( +)loss_cls:.*\\R(\\1 +.*\\R)*",
                "$1focal_gamma: 2.0\n$1focal_alpha: 0.25\n");
    }

    @Test
    void resumesWhatAnEarlierVersionHasBegun() throws IOException {
        Path whole = folder.resolve("whole");
        Path parts = folder.resolve("parts");
        Training.of(config()).start(whole);
        Training.of(config("epochs=1")).start(parts);
        retell(parts, TrainingTest::earlier);
        assertEquals(Outcome.FINISHED, Training.of(config()).resume(parts));
        assertArrayEquals(last(whole), last(parts));
    }

    @ParameterizedTest
    @CsvSource({
        "depth: 18, depth: 34, saccade.model is not the same",
        "type: retinanet, type: old_net, saccade.model cannot be read: config: saccade.model",
        "type: retinanet, type: old_net, unknown type old_net",
    })
    void refusesToResumeAnotherModel(String was, String is, String message) throws IOException {
        Path run = folder.resolve("run");
        Training.of(config("epochs=1")).start(run);
        retell(run, model -> model.replace(was, is));
        SaccadeException e =
                assertThrows(SaccadeException.class, () -> Training.of(config()).resume(run));
        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(e.getMessage().contains("last.safetensors: is of another run"), e.getMessage());
        assertTrue(e.getMessage().contains(message), e.getMessage());
    }

    @Test
    void refusesAFolderThatIsInUse() throws IOException {
        SaccadeException e =
                assertThrows(SaccadeException.class, () -> Training.of(config()).start(folder));
        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(e.getMessage().contains("not empty"), e.getMessage());
    }

    @Test
    void refusesToResumeWhatWasNeverStarted() throws IOException {
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> Training.of(config()).resume(folder.resolve("x")));
        assertTrue(e.getMessage().contains("no run"), e.getMessage());
    }

    @Test
    void tellsWhatToDoWhereMemoryRunsOut() throws IOException {
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
