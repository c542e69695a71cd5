package dev.saccade.models.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.models.Model;
import dev.saccade.models.ModelSpec;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.List;

/** Compares recipes with the names and shapes of mmdetection's zoo checkpoints. */
class MmdetectionCheckpointsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "atss/resnet50_fpn_1x_coco",
                "dyhead/resnet50_fpn_1x_coco",
                "dyhead/swin_large_fpn_2x_coco",
                "htc/resnet50_fpn_1x_coco",
                "htc/resnext101_64x4d_fpn_20e_coco"
            })
    void allTensorsMatchTheRecipe(String recipe) throws IOException {
        ModelSpec spec = Zoo.packaged().recipe(recipe).spec();
        Model<?> model = spec.model().build(spec.classes());
        try (NDManager manager = NDManager.newBaseManager()) {
            LoadReport report = Weights.restore(RecordedNames.checkpoint(recipe), model, manager);
            assertEquals(List.of(), report.unexpected());
            assertEquals(List.of(), report.names().get(LoadReport.Status.IGNORED));
            assertEquals(List.of(), report.newParameters());
            assertEquals(model.namedParameters().size(), report.loaded().size());
        }
    }
}
