package dev.saccade.train.extend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

class ExtendedConfigTest {

    private static Map<String, Object> ignoring(String recipe) {
        return new ExtendedConfig(RunConfig.recipe(recipe), Path.of("best.safetensors")).ignoring();
    }

    private static int epochs(int newImages, long steps) {
        CocoDataset.Config labels = new CocoDataset.Config("labels.json", "images", List.of());
        RunConfig old =
                RunConfig.recipe("retinanet/resnet18_fpn_bccd")
                        .with("data.batch_size=4", "epochs=2");
        ExtendedData data =
                new ExtendedData(
                        old.data(),
                        new NewData(Path.of("."), labels, labels),
                        List.of("cup"),
                        List.of("cup", "spoon"),
                        Set.of("spoon"),
                        newImages,
                        0);
        RunConfig config =
                new ExtendedConfig(old, Path.of("best.safetensors"))
                        .of(data, Path.of("."), steps, Optional.empty());
        assertEquals(old.optimizer().learningRate(), config.optimizer().learningRate());
        return config.epochs();
    }

    @Test
    void epochsHaveTheRequestedSteps() {
        assertEquals(4, epochs(/* newImages= */ 17, /* steps= */ 19));
        assertEquals(1, epochs(/* newImages= */ 17, /* steps= */ 0));
        assertEquals(100, epochs(/* newImages= */ 17, /* steps= */ 1_000_000));
    }

    @Test
    void allAssignersIgnoreRegions() {
        assertEquals(
                Map.of(
                        "model.head.assigner.ignore_iof_thr", 0.5,
                        "model.head.assigner.min_pos_iou", 0.01),
                ignoring("retinanet/resnet50_fpn_1x_coco"));
        assertEquals(
                Map.of("model.head.assigner.ignore_iof_thr", 0.5),
                ignoring("atss/resnet50_fpn_1x_coco"));
        assertEquals(
                Map.of(
                        "model.head.rpn_head.assigner.ignore_iof_thr", 0.5,
                        "model.head.stages.0.assigner.ignore_iof_thr", 0.5,
                        "model.head.stages.1.assigner.ignore_iof_thr", 0.5,
                        "model.head.stages.2.assigner.ignore_iof_thr", 0.5),
                ignoring("cascade_mask_rcnn/swin_tiny_fpn_1x_coco"));
    }
}
