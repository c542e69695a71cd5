package dev.saccade.train.extend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskMonitor;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.models.ModelSpec;
import dev.saccade.testsupport.TestImages;
import dev.saccade.testsupport.TinyModel;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Weights of detectors of a cup, and of a cup and a spoon. */
class WeightSelectionTest {

    private static final List<String> OLD = List.of("cup");
    private static final List<String> ALL = List.of("cup", "spoon");

    @TempDir Path folder;

    private final List<String> log = new ArrayList<>();
    private Path old;
    private Path trained;

    @BeforeEach
    void save() throws IOException {
        old = TinyModel.MASK_RCNN.save(folder.resolve("old.safetensors"), OLD);
        trained = folder.resolve("trained.safetensors");
        Checkpoint random =
                Checkpoints.open(
                        TinyModel.MASK_RCNN.save(folder.resolve("random.safetensors"), ALL));
        Map<String, Tensor> shifted = new HashMap<>(random.tensors());
        shifted.replaceAll((name, tensor) -> shifted(tensor));
        Checkpoints.save(trained, random.with(shifted));
        TestImages.write(folder.resolve("a.png"), 64, 64, 1);
        write("old.json", "cup");
        write("new.json", "spoon");
    }

    /** Adds 0.25 to all values. */
    private static Tensor shifted(Tensor tensor) {
        float[] values = values(tensor);
        for (int i = 0; i < values.length; i++) {
            values[i] += 0.25f;
        }
        return Tensor.of(tensor.shape(), values);
    }

    private static float[] values(Tensor tensor) {
        FloatBuffer buffer = tensor.floats();
        float[] values = new float[buffer.remaining()];
        buffer.get(values);
        return values;
    }

    private void write(String file, String name) throws IOException {
        Files.writeString(
                folder.resolve(file),
                """
                {"images": [{"id": 1, "file_name": "a.png", "width": 64, "height": 64}],
                 "categories": [{"id": 1, "name": "%s"}],
                 "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "iscrowd": 0,
                   "bbox": [8, 8, 16, 16], "area": 256,
                   "segmentation": [[8, 8, 24, 8, 24, 24, 8, 24]]}]}
                """
                        .formatted(name));
    }

    private WeightSelection selection(double maxDrop) {
        String yaml =
                """
                model:
                  backbone: {type: resnet, depth: 18}
                  neck: {type: fpn}
                  head: {type: mask_rcnn}
                data:
                  root: %s
                  val: {type: coco, annotations: old.json, images: .}
                  workers: 1
                """
                        .formatted(folder);
        RunConfig config = RunConfig.parse(yaml);
        CocoDataset.Config fresh = new CocoDataset.Config("new.json", ".", List.of());
        ExtendedData data =
                new ExtendedData(
                        config.data(),
                        new NewData(folder, fresh, fresh),
                        OLD,
                        ALL,
                        Set.of("spoon"),
                        1,
                        0);
        Dataset oldVal = config.data().val().orElseThrow().open(folder);
        return new WeightSelection(
                config, data, oldVal, perfect(oldVal), maxDrop, new TaskMonitor(p -> {}), log::add);
    }

    /** Returns an evaluation with an AP of 1. */
    private static DetectionEvaluation perfect(Dataset dataset) {
        CocoDetections.Builder detections = new CocoDetections.Builder();
        dataset.annotations(0)
                .forEach(
                        each ->
                                detections.add(
                                        dataset.image(0).id(),
                                        each.label(),
                                        each.box(),
                                        each.segmentation().mask(dataset.image(0).size()),
                                        0.9));
        return DetectionEvaluation.compute(
                dataset,
                detections.build(),
                Configs.of(DetectionEvaluator.Config.class),
                /* masks= */ true,
                1);
    }

    @Test
    void rejectsAllWeightsThatLoseTooMuch() {
        Path scratch = folder.resolve("scratch.safetensors");
        SaccadeException error =
                assertThrows(
                        SaccadeException.class,
                        () -> selection(0.05).select(old, trained, scratch));
        assertEquals(SaccadeException.Kind.USER, error.kind());
        assertTrue(
                error.getMessage()
                        .startsWith(
                                "no run was written, because old classes lost more than 0.05 AP"),
                error.getMessage());
        assertTrue(error.getMessage().contains("cup: AP 1.000 before, 0."), error.getMessage());
        assertTrue(error.getMessage().contains("or allow a drop of 1.000:"), error.getMessage());
        assertTrue(
                error.getMessage().contains("cup: mask_AP 1.000 before, 0."), error.getMessage());
        assertEquals(List.of("replay", "epochs", "max-drop"), error.settings());
        assertFalse(Files.exists(scratch));
    }

    @Test
    void selectsWeightsThatKeepTheOldClasses() {
        WeightSelection.Candidate best =
                selection(1).select(old, trained, folder.resolve("scratch.safetensors"));
        assertEquals(
                List.of("cup", "cup"),
                best.classes().oldClasses().stream().map(ClassAp::name).toList());
        assertEquals(
                List.of("spoon", "spoon"),
                best.classes().newClasses().stream().map(ClassAp::name).toList());
        assertEquals(6, log.size(), log.toString());
        assertEquals("selected 100 % trained weights", log.get(4));
        assertTrue(
                log.get(5).startsWith("warning: the AP of new classes is only 0.000"), log.get(5));
        ModelSpec spec = ModelSpec.fromMetadata(best.checkpoint().metadata(), "best");
        assertEquals(ALL, spec.classes());
    }

    @Test
    void interpolatesAllButRowsOfNewClasses() {
        WeightInterpolation weights = WeightInterpolation.of(old, trained);
        Map<String, Tensor> after = Checkpoints.open(trained).tensors();
        Map<String, Tensor> before = Checkpoints.open(old).tensors();
        assertEquals(after, weights.at(1).tensors());
        Map<String, Tensor> half = weights.at(0.5).tensors();
        String shared = "backbone.conv1.weight";
        assertEquals(
                (values(after.get(shared))[3] + values(before.get(shared))[3]) / 2,
                values(half.get(shared))[3],
                1e-6f);
        String name =
                half.keySet().stream()
                        .filter(each -> each.endsWith("fc_cls.bias"))
                        .findFirst()
                        .orElseThrow();
        float[] bias = values(half.get(name));
        float[] trainedBias = values(after.get(name));
        float[] oldBias = values(before.get(name));
        assertEquals((trainedBias[0] + oldBias[0]) / 2, bias[0], 1e-6f);
        assertEquals(trainedBias[1], bias[1]);
        assertEquals((trainedBias[2] + oldBias[1]) / 2, bias[2], 1e-6f);
    }
}
