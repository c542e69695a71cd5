package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;

import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.ClassRows;
import dev.saccade.core.conversion.NameTable;
import dev.saccade.core.conversion.Reordering;
import dev.saccade.heads.anchor.RetinaNetCheckpoints;

import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;

/** Maps the names of torchvision's Faster and Mask R-CNN to mmdetection's, which Saccade uses. */
final class TwoStageCheckpoints {

    /** Rows of both versions; {@code mask_fcn} is from before torchvision 0.13. */
    private static final String COMMON =
            """
            backbone.body.{*}                             backbone.{*}
            backbone.fpn.inner_blocks.{i}.0.{*}           neck.lateral_convs.{i}.conv.{*}
            backbone.fpn.inner_blocks.{i}.1.{*}           neck.lateral_convs.{i}.bn.{*}
            backbone.fpn.inner_blocks.{i}.{*}             neck.lateral_convs.{i}.conv.{*}
            backbone.fpn.layer_blocks.{i}.0.{*}           neck.fpn_convs.{i}.conv.{*}
            backbone.fpn.layer_blocks.{i}.1.{*}           neck.fpn_convs.{i}.bn.{*}
            backbone.fpn.layer_blocks.{i}.{*}             neck.fpn_convs.{i}.conv.{*}
            rpn.head.cls_logits.{*}                       rpn_head.rpn_cls.{*}
            rpn.head.bbox_pred.{*}                        rpn_head.rpn_reg.{*}
            roi_heads.box_predictor.cls_score.{*}         roi_head.bbox_head.fc_cls.{*} background_first
            roi_heads.box_predictor.bbox_pred.{*}         roi_head.bbox_head.fc_reg.{*} background_box
            roi_heads.mask_head.{i}.0.{*}                 roi_head.mask_head.convs.{i}.conv.{*}
            roi_heads.mask_head.{i}.1.{*}                 roi_head.mask_head.convs.{i}.bn.{*}
            roi_heads.mask_head.mask_fcn{i+1}.{*}         roi_head.mask_head.convs.{i}.conv.{*}
            roi_heads.mask_predictor.conv5_mask.{*}       roi_head.mask_head.upsample.{*}
            roi_heads.mask_predictor.mask_fcn_logits.{*}  roi_head.mask_head.conv_logits.{*} background_mask
            """;

    private static final String V1 =
            """
            rpn.head.conv.0.0.{*}         rpn_head.rpn_conv.{*}
            rpn.head.conv.{*}             rpn_head.rpn_conv.{*}
            roi_heads.box_head.fc6.{*}    roi_head.bbox_head.shared_fcs.0.{*}
            roi_heads.box_head.fc7.{*}    roi_head.bbox_head.shared_fcs.1.{*}
            """;

    private static final String V2 =
            """
            rpn.head.conv.{i}.0.{*}       rpn_head.rpn_conv.{i}.conv.{*}
            roi_heads.box_head.5.{*}      roi_head.bbox_head.shared_fcs.0.{*}
            roi_heads.box_head.{i}.0.{*}  roi_head.bbox_head.shared_convs.{i}.conv.{*}
            roi_heads.box_head.{i}.1.{*}  roi_head.bbox_head.shared_convs.{i}.bn.{*}
            """;

    /** Background is the first class in torchvision, and the last of the scores here. */
    private static final Map<String, Reordering> BACKGROUND =
            Map.of(
                    "background_first",
                    new Reordering(
                            theirs -> split(theirs, 1, (background, rest) -> cat(rest, background)),
                            ours -> {
                                long classes = ours.getShape().get(0) - 1;
                                return split(
                                        ours, classes, (rest, background) -> cat(background, rest));
                            }),
                    "background_box",
                    withoutBackground(4),
                    "background_mask",
                    withoutBackground(1));

    /** Reads published checkpoints, whose classes are COCO category ids. */
    static final CheckpointRules RULES =
            CheckpointRules.NONE
                    .withNames(
                            table(
                                    "rpn.head.conv.1.0.weight",
                                    "rpn_head.rpn_conv.0.conv.weight",
                                    V2),
                            table("roi_heads.{*}", "rpn_head.rpn_conv.weight", V1))
                    .withClassRows(new ClassRows("{*}.fc_reg.{*}", ClassRows.Order.BY_CLASS));

    private TwoStageCheckpoints() {}

    private static NameTable table(String theirMark, String ourMark, String rows) {
        List<String> categories = RetinaNetCheckpoints.cocoCategories();
        return new NameTable(
                        "torchvision",
                        theirMark,
                        List.of(
                                "backbone.layer1.0.conv1.weight",
                                ourMark,
                                "roi_head.bbox_head.fc_cls.weight"),
                        rows + COMMON,
                        BACKGROUND)
                .withClasses(categories.subList(1, categories.size()));
    }

    /** Skips the unused background rows of torchvision; written rows repeat the first class. */
    private static Reordering withoutBackground(long rows) {
        return new Reordering(
                theirs -> split(theirs, rows, (background, rest) -> rest),
                ours -> split(ours, rows, (first, rest) -> cat(first, ours)));
    }

    private static NDArray split(NDArray x, long rows, BinaryOperator<NDArray> join) {
        NDList parts = x.split(new long[] {rows}, 0);
        return join.apply(parts.get(0), parts.get(1));
    }

    private static NDArray cat(NDArray first, NDArray second) {
        return NDArrays.concat(new NDList(first, second), 0);
    }
}
