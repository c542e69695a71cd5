package dev.saccade.heads.anchor;

import com.google.common.io.Resources;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.ClassRows;
import dev.saccade.core.conversion.NameTable;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Maps torchvision's RetinaNet names to mmdetection's, which Saccade uses. */
public final class RetinaNetCheckpoints {

    /**
     * Names in {@code retinanet_resnet50_fpn} and {@code retinanet_resnet50_fpn_v2}. Where
     * torchvision renamed tensors, the new name is first. torchvision's FCOS has the same backbone
     * and FPN names.
     */
    private static final NameTable TORCHVISION =
            new NameTable(
                            "torchvision",
                            "backbone.body.{*}",
                            List.of(
                                    "backbone.layer1.0.conv1.weight",
                                    "bbox_head.retina_cls.weight"),
                            """
                            backbone.body.{*}                        backbone.{*}
                            backbone.fpn.inner_blocks.{i}.0.{*}      neck.lateral_convs.{i}.conv.{*}
                            backbone.fpn.inner_blocks.{i}.{*}        neck.lateral_convs.{i}.conv.{*}
                            backbone.fpn.extra_blocks.p6.{*}         neck.fpn_convs.3.conv.{*}
                            backbone.fpn.extra_blocks.p7.{*}         neck.fpn_convs.4.conv.{*}
                            backbone.fpn.layer_blocks.{i}.0.{*}      neck.fpn_convs.{i}.conv.{*}
                            backbone.fpn.layer_blocks.{i}.{*}        neck.fpn_convs.{i}.conv.{*}
                            head.classification_head.conv.{i}.0.{*}  bbox_head.cls_convs.{i}.conv.{*}
                            head.classification_head.conv.{i}.1.{*}  bbox_head.cls_convs.{i}.gn.{*}
                            head.classification_head.conv.{2i}.{*}   bbox_head.cls_convs.{i}.conv.{*}
                            head.regression_head.conv.{i}.0.{*}      bbox_head.reg_convs.{i}.conv.{*}
                            head.regression_head.conv.{i}.1.{*}      bbox_head.reg_convs.{i}.gn.{*}
                            head.regression_head.conv.{2i}.{*}       bbox_head.reg_convs.{i}.conv.{*}
                            head.classification_head.cls_logits.{*}  bbox_head.retina_cls.{*}
                            head.regression_head.bbox_reg.{*}        bbox_head.retina_reg.{*}
                            """)
                    .withClasses(cocoCategories());

    static final CheckpointRules RULES =
            CheckpointRules.NONE
                    .withNames(TORCHVISION)
                    .withClassRows(
                            new ClassRows("bbox_head.retina_cls.{*}", ClassRows.Order.BY_ANCHOR));

    private RetinaNetCheckpoints() {}

    /** Returns category names by COCO category id, the row order of torchvision's classifier. */
    public static List<String> cocoCategories() {
        try {
            return Resources.readLines(
                    Resources.getResource(RetinaNetCheckpoints.class, "torchvision_coco.txt"),
                    StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw SaccadeException.internal(e, "torchvision_coco.txt cannot be read");
        }
    }
}
