package dev.saccade.checkpoint.weights;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.collect.ImmutableListMultimap;

import dev.saccade.checkpoint.weights.LoadReport.Status;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

class LoadReportTest {

    @Test
    void summarizesAllNamesInAFewLines() {
        String biases = "layers.3.blocks.0.attn.relative_position_bias_table_to_windows.0";
        String neighbors = ".attn.relative_position_bias_table_to_neighbors";
        String others = "3 classes here, 80 in the checkpoint";
        LoadReport report =
                new LoadReport(
                        ImmutableListMultimap.<Status, String>builder()
                                .putAll(Status.LOADED, "patch_embed.proj.weight", biases)
                                .put(Status.RESIZED, biases)
                                .putAll(
                                        Status.REINITIALIZED,
                                        "cls_convs.0.weight",
                                        "cls_convs.0.bias",
                                        "fc.weight")
                                .putAll(
                                        Status.NEW,
                                        "layers.3.blocks.0" + neighbors,
                                        "layers.3.blocks.1" + neighbors,
                                        "norm3.weight",
                                        "norm3.bias")
                                .put(Status.MISSING, "cls_token")
                                .put(Status.UNEXPECTED, "rpn_head.rpn_cls.weight")
                                .putAll(Status.IGNORED, "head.weight", "head.bias")
                                .putAll(
                                        Status.COMPUTED,
                                        "layers.0.blocks.0.attn.relative_position_index",
                                        "layers.1.blocks.0.attn.relative_position_index")
                                .build(),
                        Map.of(
                                biases,
                                "from (8, 49) to (8, 169), bilinear",
                                "cls_convs.0.weight",
                                others,
                                "cls_convs.0.bias",
                                others,
                                "fc.weight",
                                others),
                        List.of());

        assertEquals(
                """
                loaded 2 of 10 parameters
                position tables interpolated: 1
                  layers.3.blocks.0.attn.relative_position_bias_table_to_windows.0: \
                from (8, 49) to (8, 169), bilinear
                3 classes here, 80 in the checkpoint: initialized from scratch: cls_convs.0, fc
                never in this type of checkpoint, initialized from the config: 4
                  layers.3.*.relative_position_bias_table_to_neighbors (2)
                  norm3.* (2)
                missing in the checkpoint, unchanged: 1
                  cls_token
                unexpected in the checkpoint, ignored: 1
                  rpn_head.rpn_cls.weight
                not needed, ignored: 4
                  head.* (2), such as head.weight
                  *.relative_position_index (2)
                """,
                String.join("\n", report.toString().lines().toList()) + "\n");
    }
}
