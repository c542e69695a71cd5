package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDManager;

import dev.saccade.backbones.ResNet;
import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.config.Configs;
import dev.saccade.heads.roi.HtcHead;
import dev.saccade.necks.Fpn;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

/** Checkpoints of Hybrid Task Cascade, whose mask heads may have an unused layer. */
class HtcCheckpointsTest {

    private static DetectionModel model(boolean maskInfoFlow) {
        ModelConfig config =
                ModelConfig.detector(
                        Configs.of(
                                ResNet.Config.class,
                                "depth=18",
                                "stem_channels=8",
                                "base_channels=8"),
                        Configs.of(Fpn.Config.class, "out_channels=8"),
                        Configs.of(
                                HtcHead.Config.class,
                                "rpn_head.feat_channels=8",
                                "stages=[{bbox_head: {fc_out_channels: 8}},"
                                        + " {bbox_head: {fc_out_channels: 8}}]",
                                "mask_head={num_convs: 1, conv_out_channels: 8}",
                                "semantic_head={num_convs: 1, conv_out_channels: 8}",
                                "mask_info_flow=" + maskInfoFlow));
        return new DetectionModel(config, List.of("thing"));
    }

    @Test
    void unusedLayersAreIgnored() {
        try (NDManager manager = NDManager.newBaseManager()) {
            DetectionModel flowing = model(true);
            flowing.initialize(manager, 0);
            Checkpoint checkpoint = Checkpoint.of(flowing, Map.of());
            DetectionModel apart = model(false);
            apart.initialize(manager, 1);
            LoadReport report = Weights.restore(checkpoint, apart);
            assertEquals(List.of(), report.missing());
            assertEquals(List.of(), report.unexpected());
            assertEquals(
                    List.of(
                            "roi_head.mask_head.1.conv_res.conv.weight",
                            "roi_head.mask_head.1.conv_res.conv.bias"),
                    report.names().get(LoadReport.Status.IGNORED));
            assertEquals(apart.namedParameters().keySet().size(), report.loaded().size());
        }
    }
}
