package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DetectionLimits;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

class DetectionLimitsTest {

    private static final RunConfig ONE_STAGE =
            config("{type: retinanet, nms_pre: 200, nms: {max_per_img: 150}}");

    private static RunConfig config(String head) {
        return RunConfig.parse(
                """
                model:
                  backbone: {type: resnet, depth: 18}
                  neck: {type: fpn}
                  head: HEAD
                data: {root: data}
                """
                        .replace("HEAD", head));
    }

    private static List<String> warnings(
            String role, int perImage, int perImageAndClass, RunConfig config) {
        ObjectStatistics held =
                new ObjectStatistics(
                        1,
                        0,
                        new ObjectStatistics.Counts(perImage, 0, perImage, perImage),
                        new ObjectStatistics.Density(perImage, perImageAndClass),
                        Map.of(),
                        Map.of());
        DatasetReport report = new DatasetReport(held, 0, 0, List.of());
        DatasetReport checked = DetectionLimits.check(role, report, config);
        assertEquals(checked.findings().size(), checked.warnings());
        return checked.findings().stream().map(Finding::message).toList();
    }

    @Test
    void warnsAboutEachLimitThatAnImageExceeds() {
        assertEquals(List.of(), warnings("train", 150, 150, ONE_STAGE));
        List<String> some = warnings("train", 151, 151, ONE_STAGE);
        assertEquals(1, some.size(), some.toString());
        assertTrue(
                some.get(0)
                        .contains(
                                "151 objects, but model.head.nms.max_per_img limits detections to 150"),
                some.get(0));
        List<String> many = warnings("train", 300, 1, ONE_STAGE);
        assertEquals(2, many.size(), many.toString());
        assertTrue(many.get(1).matches(".*model\\.head\\.nms_pre .*200.*"), many.get(1));
    }

    @Test
    void onlyEvaluatedImagesAreComparedWithTheLimitOfAp() {
        List<String> warned = warnings("val", 120, 110, ONE_STAGE);
        assertEquals(1, warned.size(), warned.toString());
        assertTrue(warned.get(0).contains("110 objects of one class"), warned.get(0));
        assertTrue(warned.get(0).contains("max_dets: [1, 10, 110]"), warned.get(0));
        assertEquals(List.of(), warnings("train", 120, 110, ONE_STAGE));
        assertEquals(List.of(), warnings("val", 120, 100, ONE_STAGE));
        RunConfig raised =
                ONE_STAGE.with("evaluation.evaluators=[{type: coco, max_dets: [1, 10, 110]}]");
        assertEquals(List.of(), warnings("val", 120, 110, raised));
    }

    @Test
    void proposalsOfTwoStagesAreLimitsToo() {
        RunConfig config =
                config(
                        "{type: mask_rcnn, nms: {max_per_img: 9000}, rpn_head: {test_proposals:"
                                + " {nms_pre: 2000, max_per_img: 1000}}}");
        List<String> warned = warnings("train", 1500, 1500, config);
        assertEquals(1, warned.size(), warned.toString());
        assertTrue(
                warned.get(0)
                        .contains(
                                "model.head.rpn_head.test_proposals.max_per_img limits detections to 1000"),
                warned.get(0));
    }
}
