package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.imageio.ImageIO;

/** Metrics, queue and replaced weights of a model. */
@Timeout(60)
class PredictionQueueTest {

    private static final String MODEL =
            """
            backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
            neck: {type: fpn, out_channels: 8}
            head: {type: retinanet, feat_channels: 8, stacked_convs: 1, nms: {score_thr: 0.008}}
            """;

    @TempDir Path folder;
    private final MeterRegistry meters = new SimpleMeterRegistry();
    private final ModelMetrics metrics = ModelMetrics.of("tools", meters);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private Path file;
    private byte[] image;
    private Detector detector;
    private List<DetectedObject> expected;

    @BeforeEach
    void load() throws IOException {
        file = save("detector", List.of("a", "b"), 3, 0);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BufferedImage pixels = new BufferedImage(96, 64, BufferedImage.TYPE_INT_RGB);
        for (int i = 0; i < 96 * 64; i++) {
            pixels.setRGB(i % 96, i / 96, i * 0x1A0B05);
        }
        ImageIO.write(pixels, "png", bytes);
        image = bytes.toByteArray();
        detector = Detector.load(file, Device.cpu());
        expected = detector.detect(image);
        assertFalse(expected.isEmpty());
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        detector.close();
    }

    private Path save(String name, List<String> classes, long seed, double score) {
        ModelSpec spec =
                new ModelSpec(
                        Configs.bind(ConfigFile.parse(MODEL, "model"), ModelConfig.class),
                        List.of(Configs.of(Normalize.class), Configs.of(Pad.class)),
                        classes);
        Path saved = folder.resolve(name + ".safetensors");
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            Model<?> model = spec.model().build(classes);
            model.initialize(manager, seed);
            Map<String, String> metadata = new HashMap<>(spec.toMetadata());
            metadata.putAll(ScoreThresholds.of(score).toMetadata());
            Checkpoints.save(saved, Checkpoint.of(model, metadata));
        }
        return saved;
    }

    private double errors(String kind) {
        return meters.counter("saccade.errors", "model", "tools", "kind", kind).count();
    }

    @Test
    void countsDirectPredictions() {
        detector.setMetrics(metrics);
        detector.detect(image);
        detector.detect(image);
        byte[] wrong = "no image".getBytes(UTF_8);
        assertThrows(SaccadeException.class, () -> detector.detect(wrong));
        assertEquals(2, meters.get("saccade.predict").tag("error", "none").timer().count());
        assertEquals(2, meters.get("saccade.decode").tag("error", "none").timer().count());
        assertEquals(2, meters.get("saccade.batch.size").summary().totalAmount());
        assertEquals(1, errors("user"));
        assertEquals(
                4.0 * detector.parameterCount(),
                meters.get("saccade.model.memory").gauge().value());
    }

    @Test
    void queueReturnsTheSamePredictions() throws Exception {
        detector.startQueue(QueueLimits.DEFAULT, metrics);
        List<Future<List<DetectedObject>>> results = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            results.add(threads.submit(() -> detector.detect(image)));
        }
        for (Future<List<DetectedObject>> each : results) {
            assertEquals(expected.size(), each.get().size());
            assertEquals(expected.get(0).score(), each.get().get(0).score(), 1e-5);
        }
        assertEquals(32, meters.get("saccade.batch.size").summary().totalAmount());
        assertEquals(32, meters.get("saccade.queue.wait").timer().count());
        assertEquals(0, meters.get("saccade.queue.length").gauge().value());
        assertEquals(128, meters.get("saccade.queue.capacity").gauge().value());
        byte[] wrong = "no image".getBytes(UTF_8);
        assertThrows(SaccadeException.class, () -> detector.detect(wrong));
        assertEquals(1, errors("user"));
        detector.close();
        assertThrows(IllegalStateException.class, () -> detector.detect(image));
    }

    @Test
    void fullQueueRejectsAll() throws Exception {
        QueueLimits one = new QueueLimits(1, 1, 1_000_000);
        try (PredictionQueue<?> queue = new PredictionQueue<>(detector, one, metrics)) {
            ImageSource source = ImageSource.of(image);
            QueueFullException full =
                    assertThrows(
                            QueueFullException.class,
                            () -> queue.submit(List.of(source, source), () -> false));
            assertEquals(1, full.retryAfterSeconds());
            assertEquals(2, errors("rejected"));
            queue.submit(List.of(source), () -> false).get(0).get();
        }
    }

    @Test
    void spansBelongToTheRequest() {
        Map<String, String> parents = new ConcurrentHashMap<>();
        ObservationRegistry observations = ObservationRegistry.create();
        observations
                .observationConfig()
                .observationHandler(
                        new ObservationHandler<Observation.Context>() {
                            @Override
                            public void onStop(Observation.Context context) {
                                if (context.getParentObservation() != null) {
                                    parents.put(
                                            context.getName(),
                                            context.getParentObservation()
                                                    .getContextView()
                                                    .getName());
                                }
                            }

                            @Override
                            public boolean supportsContext(Observation.Context context) {
                                return true;
                            }
                        });
        detector.startQueue(QueueLimits.DEFAULT, ModelMetrics.of("tools", meters, observations));
        Observation.createNotStarted("request", observations)
                .observe(() -> assertEquals(expected, detector.detect(image)));
        assertEquals(Map.of("saccade.decode", "request", "saccade.predict", "request"), parents);
    }

    @Test
    void reloadsWhilePredictionsRun() throws Exception {
        Detector copy = detector.withMinScore(0);
        AtomicBoolean stop = new AtomicBoolean();
        detector.startQueue(QueueLimits.DEFAULT, metrics);
        List<Future<Integer>> running = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            running.add(
                    threads.submit(
                            () -> {
                                int count = 0;
                                while (!stop.get()) {
                                    detector.detect(image);
                                    count++;
                                }
                                return count;
                            }));
        }
        Path other = save("other", detector.classes(), 4, 0.6);
        detector.reload(other);
        detector.reload(file);
        detector.reload(other);
        stop.set(true);
        for (Future<Integer> each : running) {
            assertTrue(each.get() > 0);
        }
        assertEquals(0.6, detector.scoreThresholds().overall());
        try (Detector fresh = Detector.load(other, Device.cpu())) {
            assertEquals(fresh.detect(image, 0), detector.detect(image, 0));
            assertEquals(fresh.detect(image, 0), copy.detect(image));
        }
    }

    @Test
    void keepsWeightsIfClassesDiffer() {
        Path other = save("other", List.of("a", "c"), 3, 0);
        SaccadeException failure =
                assertThrows(SaccadeException.class, () -> detector.reload(other));
        assertTrue(failure.getMessage().contains("other classes"), failure.getMessage());
        assertEquals(expected, detector.detect(image));
    }

    @Test
    void metricsContinueWithAnotherModelOfTheSameName() {
        detector.startQueue(QueueLimits.DEFAULT, metrics);
        detector.close();
        assertEquals(0, meters.get("saccade.model.memory").gauge().value());
        assertThrows(IllegalStateException.class, () -> detector.reload(file));
        try (Detector next = Detector.load(file, Device.cpu())) {
            next.startQueue(new QueueLimits(7, 1, 1_000_000), ModelMetrics.of("tools", meters));
            assertEquals(7, meters.get("saccade.queue.capacity").gauge().value());
            assertEquals(
                    4.0 * next.parameterCount(),
                    meters.get("saccade.model.memory").gauge().value());
        }
    }

    @Test
    void defaultScoresCanBeChosen() {
        double best = expected.get(0).score();
        assertEquals(expected, detector.withScoresPerClass().detect(image));
        assertEquals(detector.detect(image, best), detector.withMinScore(best).detect(image));
        assertTrue(detector.withMinScore(best).detect(image).size() < expected.size());
    }
}
