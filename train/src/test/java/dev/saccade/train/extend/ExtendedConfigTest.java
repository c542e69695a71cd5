package dev.saccade.train.extend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.Map;

class ExtendedConfigTest {

    private static Map<String, Object> ignoring(String recipe) {
        return new ExtendedConfig(RunConfig.recipe(recipe), Path.of("best.safetensors")).ignoring();
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
