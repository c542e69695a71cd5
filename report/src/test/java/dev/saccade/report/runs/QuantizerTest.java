package dev.saccade.report.runs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Device;
import ai.djl.pytorch.jni.JniUtils;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.nn.Quantization;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.models.Detector;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.TrainedModel;
import dev.saccade.testsupport.TinyModel;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;
import org.opencv.imgcodecs.Imgcodecs;
import org.opencv.imgproc.Imgproc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

class QuantizerTest {

    private static final ProgressBar.Factory NO_BARS =
            (task, total, unit) ->
                    new ProgressBar() {
                        @Override
                        public void to(long done) {}

                        @Override
                        public void step() {}

                        @Override
                        public void close() {}
                    };

    @TempDir Path folder;
    private Path checkpoint;
    private Path out;

    @BeforeEach
    void prepare() {
        assumeTrue(Quantization.isFast());
        OpenCv.load();
        checkpoint = TinyModel.RETINANET.save(folder.resolve("a.safetensors"), List.of("box"));
        out = folder.resolve("b.safetensors");
    }

    /** Writes black images, each with a brighter box, and returns a config for them. */
    private RunConfig config(int images, int brightness) throws IOException {
        List<String> entries = new ArrayList<>();
        List<String> objects = new ArrayList<>();
        for (int i = 0; i < images; i++) {
            Mat image = new Mat(64, 96, CvType.CV_8UC3, new Scalar(0, 0, 0));
            org.opencv.core.Rect box = new org.opencv.core.Rect(10 + i, 10, 40, 30);
            Imgproc.rectangle(image, box, new Scalar(brightness, brightness, 0), -1);
            Imgcodecs.imwrite(folder.resolve(i + ".png").toString(), image);
            image.release();
            entries.add(
                    "{\"id\": %d, \"file_name\": \"%d.png\", \"width\": 96, \"height\": 64}"
                            .replace("%d", "" + i));
            objects.add(
                    ("{\"id\": ID, \"image_id\": IMAGE, \"category_id\": 1, \"iscrowd\": 0,"
                                    + " \"bbox\": [X, 10, 40, 30], \"area\": 1200, \"segmentation\": [[X, 10,"
                                    + " X, 40, 30, 40, 30, 10]]}")
                            .replace("ID", "" + (i + 1))
                            .replace("IMAGE", "" + i)
                            .replace("X", "" + (10 + i)));
        }
        Files.writeString(
                folder.resolve("boxes.json"),
                """
                {"images": IMAGES, "annotations": OBJECTS, "categories": [{"id": 1, "name": "box"}]}
                """
                        .replace("IMAGES", entries.toString())
                        .replace("OBJECTS", objects.toString()));
        return RunConfig.parse(
                """
                model:
                  backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
                  neck: {type: fpn, out_channels: 8}
                  head: {type: retinanet, feat_channels: 8, stacked_convs: 1}
                data:
                  root: 'FOLDER'
                  train: {type: coco, annotations: boxes.json, images: .}
                  val: {type: coco, annotations: boxes.json, images: .}
                """
                        .replace("FOLDER", folder.toString()));
    }

    private static Quantizer.Settings settings(double maxDrop, int images) {
        return new Quantizer.Settings(maxDrop, images, false);
    }

    private static Map<String, Double> box(TrainedModel<?> model, Dataset dataset, String task) {
        return Map.of("AP", model.spec().precision() == Precision.FLOAT32 ? 0.5 : 0.499);
    }

    @Test
    void quantizedModelPredictsNearlyTheSame() throws IOException {
        QuantizedModel result =
                new Quantizer(config(3, 200), settings(1, 64), NO_BARS).write(checkpoint, out);
        assertEquals(3, result.trainingImages());
        assertEquals(Precision.BFLOAT16, result.precision());
        assertTrue(result.quantizedLayers().size() > 5, result.toString());
        assertEquals(
                List.of("float32", "bfloat16", "quantized"),
                List.copyOf(result.variants().keySet()));
        for (QuantizedModel.Variant variant : result.variants().values()) {
            assertEquals(Set.of("AP"), variant.metrics().keySet());
            assertTrue(variant.latency() > 0 && variant.memory() > 0, variant.toString());
        }
        assertTrue(
                result.summary().contains("selected on 3 training images; metrics on 3"),
                result.summary());
        assertTrue(result.tables().get(0).toString().contains("ms per image"));

        Checkpoint original = Checkpoints.open(checkpoint);
        Checkpoint written = Checkpoints.open(out);
        assertEquals(original.tensors().keySet(), written.tensors().keySet());
        ModelSpec spec = ModelSpec.fromMetadata(written.metadata(), "b");
        assertEquals(result.quantizedLayers(), spec.quantizedLayers());
        try (Detector before = Detector.load(checkpoint, Device.cpu());
                Detector after = Detector.load(out, Device.cpu())) {
            ImageSource image = ImageSource.of(folder.resolve("0.png"));
            float[] scores = before.predict(image).scores();
            float[] others = after.predict(image).scores();
            assertTrue(scores.length > 0 && others.length > 0);
            assertEquals(scores[0], others[0], 0.02 * scores[0]);
        }
    }

    @Test
    void predictionsDoNotDependOnThreads() throws IOException {
        new Quantizer(config(1, 200), settings(1, 1), NO_BARS).write(checkpoint, out);
        try (Detector detector = Detector.load(out, Device.cpu())) {
            ImageSource image = ImageSource.of(folder.resolve("0.png"));
            int threads = JniUtils.getNumThreads();
            try {
                JniUtils.setNumThreads(1);
                Instances one = detector.predict(image);
                JniUtils.setNumThreads(2);
                Instances two = detector.predict(image);
                assertArrayEquals(one.scores(), two.scores());
                assertEquals(one.boxes(), two.boxes());
            } finally {
                JniUtils.setNumThreads(threads);
            }
        }
    }

    @Test
    void masksAreCompared() throws IOException {
        TinyModel.MASK_RCNN.save(checkpoint, List.of("box"));
        RunConfig config =
                config(2, 200)
                        .with(
                                "model.head.type=mask_rcnn",
                                "model.neck={type: fpn, out_channels: 8}");
        QuantizedModel result =
                new Quantizer(config, settings(1, 2), NO_BARS).write(checkpoint, out);
        assertEquals(Set.of("AP", "mask_AP"), result.quantized().metrics().keySet());
    }

    @Test
    void blackImagesCanBeUsed() throws IOException {
        Path left =
                Files.writeString(
                        folder.resolve(".b.safetensors.0b0c96f1-9ed2-4a2d-a5a1-000000000000.tmp"),
                        "of a killed process");
        QuantizedModel result =
                new Quantizer(config(1, 0), settings(1, 1), NO_BARS).write(checkpoint, out);
        assertTrue(Files.exists(out));
        assertFalse(Files.exists(left));
        assertTrue(result.floatLayers().isEmpty());
        assertEquals(List.of(), result.notes());
    }

    @Test
    void notesFewImagesAndLowMetrics() throws IOException {
        Checkpoint stored = Checkpoints.open(checkpoint);
        Map<String, String> metadata = new HashMap<>(stored.metadata());
        metadata.put("run.best", "0.9");
        Checkpoints.save(checkpoint, new Checkpoint(stored.tensors(), metadata));
        QuantizedModel result =
                new Quantizer(
                                config(2, 200),
                                settings(1, 3),
                                NO_BARS,
                                (model, dataset, task) ->
                                        Map.of("AP", task.contains("training") ? 0.4 : 0.5))
                        .write(checkpoint, out);
        assertEquals(2, result.notes().size());
        assertEquals(
                "note: found only 2 suitable training images, fewer than the requested 3",
                result.notes().get(0));
        assertTrue(result.notes().get(1).contains("only 0.4000 on the training images"));
    }

    @Test
    void followsLinks() throws IOException {
        Path file = Files.writeString(folder.resolve("target.safetensors"), "old");
        Path link = Files.createSymbolicLink(out, file);
        new Quantizer(config(1, 200), new Quantizer.Settings(1, 1, true), NO_BARS)
                .write(checkpoint, link);
        assertTrue(Files.isSymbolicLink(link));
        assertFalse(Checkpoints.open(file).tensors().isEmpty());
    }

    @Test
    void rejectsLinksToMissingFiles() throws IOException {
        Path link = Files.createSymbolicLink(out, folder.resolve("missing.safetensors"));
        Quantizer quantizer =
                new Quantizer(config(1, 200), new Quantizer.Settings(1, 1, true), NO_BARS);
        SaccadeException rejected =
                assertThrows(SaccadeException.class, () -> quantizer.write(checkpoint, link));
        assertTrue(rejected.getMessage().contains("missing file"), rejected.getMessage());
    }

    @Test
    void requiresAWritableFolderBeforeAnyWork() throws IOException {
        Path unwritable = Path.of("/proc/self/b.safetensors");
        assumeTrue(Files.isDirectory(unwritable.getParent()));
        Quantizer quantizer =
                new Quantizer(
                        config(1, 200),
                        settings(1, 1),
                        NO_BARS,
                        (model, dataset, task) -> fail("evaluated"));
        SaccadeException rejected =
                assertThrows(SaccadeException.class, () -> quantizer.write(checkpoint, unwritable));
        assertTrue(rejected.getMessage().contains("not writable"), rejected.getMessage());
    }

    @Test
    void keepsLayersInFloatUntilTheDropIsSmall() throws IOException {
        QuantizedModel result =
                new Quantizer(
                                config(2, 200),
                                settings(0.003, 2),
                                NO_BARS,
                                (model, dataset, task) -> metric(model, dataset.size() == 2))
                        .write(checkpoint, out);
        int all = result.quantizedLayers().size() + result.floatLayers().size();
        assertEquals((all + 9) / 10 * 2, result.floatLayers().size());
        double smallest =
                result.floatLayers().values().stream().mapToDouble(e -> e).min().orElseThrow();
        assertTrue(smallest > 0, result.toString());
    }

    private int evaluations;

    /** Returns a metric that is low in the first two evaluations of the quantized model. */
    private Map<String, Double> metric(TrainedModel<?> model, boolean sample) {
        boolean quantized = model.spec().precision() == Precision.BFLOAT16;
        boolean low = quantized && sample && evaluations++ < 2;
        return Map.of("AP", low ? 0.4 : 0.5);
    }

    @Test
    void writesNothingIfTheMetricDrops() throws IOException {
        RunConfig config = config(2, 200);
        Quantizer strict = new Quantizer(config, settings(0.0001, 2), NO_BARS, QuantizerTest::box);
        SaccadeException rejected =
                assertThrows(SaccadeException.class, () -> strict.write(checkpoint, out));
        assertEquals(SaccadeException.Kind.USER, rejected.kind());
        assertTrue(rejected.getMessage().contains("AP drops from 0.5000 to 0.4990"));
        assertEquals(List.of("max-drop", "images"), rejected.settings());
        int[] calls = {0};
        Quantizer noisy =
                new Quantizer(
                        config,
                        settings(0.003, 2),
                        NO_BARS,
                        // Validation before, sample before and after, validation after.
                        (model, dataset, task) -> Map.of("AP", ++calls[0] == 4 ? 0.4 : 0.5));
        rejected = assertThrows(SaccadeException.class, () -> noisy.write(checkpoint, out));
        assertTrue(rejected.getMessage().contains("validation images, AP drops from 0.5000"));
        assertTrue(rejected.getMessage().contains("at most 0.003"), rejected.getMessage());
        assertEquals(4, calls[0]);
        assertFalse(Files.exists(out));
        try (Stream<Path> files = Files.list(folder)) {
            assertTrue(files.noneMatch(file -> file.toString().endsWith(".tmp")));
        }
    }

    @Test
    void reportsAllProblemsTogether() throws IOException {
        RunConfig config = config(1, 200).withoutDatasets();
        Quantizer quantizer = new Quantizer(config, settings(-1, 0), NO_BARS);
        SaccadeException rejected =
                assertThrows(SaccadeException.class, () -> quantizer.write(checkpoint, checkpoint));
        assertEquals(SaccadeException.Kind.USER, rejected.kind());
        for (String problem :
                List.of(
                        "5 problems",
                        "max-drop: got -1.0, expected a number from 0 to 1",
                        "images: got 0, expected 1 or more",
                        "the run has no validation set",
                        "the run has no training set",
                        "out: is the original checkpoint")) {
            assertTrue(rejected.getMessage().contains(problem), rejected.getMessage());
        }
    }

    @Test
    void rejectsAnEmptyTrainingSet() throws IOException {
        RunConfig config = config(1, 200).with("data.train.annotations=empty.json");
        Files.writeString(
                folder.resolve("empty.json"),
                "{\"images\": [], \"annotations\": [], \"categories\": [{\"id\": 1, \"name\":"
                        + " \"box\"}]}");
        Quantizer quantizer = new Quantizer(config, settings(1, 64), NO_BARS);
        SaccadeException rejected =
                assertThrows(SaccadeException.class, () -> quantizer.write(checkpoint, out));
        assertEquals(SaccadeException.Kind.USER, rejected.kind());
        assertTrue(rejected.getMessage().contains("data.train"), rejected.getMessage());
    }
}
