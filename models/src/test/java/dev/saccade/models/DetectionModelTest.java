package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

class DetectionModelTest {

    private static final ModelConfig CONFIG =
            Configs.bind(
                    ConfigFile.parse(
                            """
                            backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
                            neck: {type: fpn, out_channels: 8}
                            head: {type: retinanet, feat_channels: 8, stacked_convs: 1}
                            """,
                            "test"),
                    ModelConfig.class);

    private static final String CLASSIFIER = "bbox_head.retina_cls";

    private final NDManager manager = NDManager.newBaseManager();

    @AfterEach
    void close() {
        manager.close();
    }

    private DetectionModel detector(long seed, String... classes) {
        DetectionModel detector = new DetectionModel(CONFIG, List.of(classes));
        detector.initialize(manager, seed);
        return detector;
    }

    private Checkpoint checkpoint(boolean named, String... classes) {
        ModelSpec spec = new ModelSpec(CONFIG, List.of(), List.of(classes));
        return Checkpoint.of(detector(1, classes), named ? spec.toMetadata() : Map.of());
    }

    private static Tensor classifier(DetectionModel detector) {
        return Checkpoint.of(detector, Map.of()).tensors().get(CLASSIFIER + ".weight");
    }

    private static String remade(LoadReport report) {
        return report.toString()
                .lines()
                .filter(line -> line.contains("initialized from scratch"))
                .reduce("", (a, b) -> a + b);
    }

    @Test
    void initializesWithAnotherNumberOfClasses() {
        DetectionModel detector = detector(2, "date", "fig", "hazelnut");
        Tensor before = classifier(detector);
        Checkpoint there = checkpoint(false, "cat", "dog", "cow", "hen", "pig");

        LoadReport report = detector.initializeFrom(there);

        assertEquals(
                "3 classes here, 5 in the checkpoint: initialized from scratch: " + CLASSIFIER,
                remade(report));
        assertEquals(List.of(), report.names().get(LoadReport.Status.SHAPE_MISMATCH));
        assertEquals(2, report.names().get(LoadReport.Status.REINITIALIZED).size());
        assertEquals(before, classifier(detector));
        String shared = "bbox_head.retina_reg.weight";
        assertEquals(
                there.tensors().get(shared),
                Checkpoint.of(detector, Map.of()).tensors().get(shared));
    }

    @Test
    void keepsDifferentClassesApart() {
        DetectionModel detector = detector(2, "date", "fig");
        LoadReport others = detector.initializeFrom(checkpoint(true, "cat", "dog"));
        assertEquals(
                "2 classes here, different classes in the checkpoint: initialized from scratch: "
                        + CLASSIFIER,
                remade(others));

        Checkpoint same = checkpoint(true, "date", "fig");
        assertTrue(detector.initializeFrom(same).isComplete());
        assertEquals(same.tensors().get(CLASSIFIER + ".weight"), classifier(detector));
        assertTrue(detector.initializeFrom(checkpoint(false, "cat", "dog")).isComplete());
    }

    @Test
    void namesTheComponentThatDoesNotFit() {
        ModelConfig wrong =
                Configs.bind(
                        ConfigFile.parse(
                                """
                                backbone: {type: resnet, depth: 18}
                                neck: {type: fpn, start_level: 4}
                                head: {type: retinanet}
                                """,
                                "test"),
                        ModelConfig.class);
        SaccadeException thrown =
                assertThrows(SaccadeException.class, () -> new DetectionModel(wrong, List.of("a")));
        assertTrue(thrown.getMessage().startsWith("model.neck.start_level: "), thrown.getMessage());
    }
}
