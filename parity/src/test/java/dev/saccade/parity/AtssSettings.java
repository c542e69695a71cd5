package dev.saccade.parity;

import static java.util.Map.entry;

import dev.saccade.config.Configs;
import dev.saccade.heads.anchor.AtssHead;
import dev.saccade.heads.box.AtssAssigner;
import dev.saccade.heads.box.PseudoSampler;
import dev.saccade.heads.loss.CenternessLoss;
import dev.saccade.heads.loss.FocalLoss;

import java.util.Map;

/** mmdetection's settings of an ATSS head. */
final class AtssSettings {

    private static final int GROUPS = 32;

    private AtssSettings() {}

    /** Returns the head; the caller checks widths and strides. */
    static AtssHead.Config head(Settings head, Settings train, Settings test) {
        head.onlyClass("type", "ATSSHead");
        Settings anchors = head.object("anchor_generator");
        Settings focal = head.object("loss_cls");
        focal.onlyClass("type", "FocalLoss");
        focal.only("use_sigmoid", true);
        Settings centerness = head.objectOrEmpty("loss_centerness");
        centerness.onlyClass("type", "CrossEntropyLoss");
        centerness.only("use_sigmoid", true);
        head.only("conv_cfg", null);
        train.only("pos_weight", -1);
        train.describes("debug");
        return Configs.of(
                AtssHead.Config.class,
                Map.ofEntries(
                        entry("feat_channels", head.integer("feat_channels", 256)),
                        entry("stacked_convs", head.integer("stacked_convs", 4)),
                        entry("norm_groups", groups(head)),
                        entry("pred_kernel_size", head.integer("pred_kernel_size", 3)),
                        entry("octave_base_scale", anchors.number("octave_base_scale")),
                        entry("scales_per_octave", anchors.integer("scales_per_octave")),
                        entry("ratios", anchors.numbers("ratios")),
                        entry("scale_major", anchors.flag("scale_major", true)),
                        entry("center_offset", AnchorsKind.centerOffset(anchors)),
                        entry(
                                "loss_cls",
                                new FocalLoss(
                                        focal.number("gamma", 2),
                                        focal.number("alpha", 0.25),
                                        focal.number("loss_weight", 1))),
                        entry("loss_bbox", TwoStageSettings.boxLoss(head.object("loss_bbox"))),
                        entry(
                                "loss_centerness",
                                new CenternessLoss(centerness.number("loss_weight", 1))),
                        entry("reg_decoded_bbox", head.flag("reg_decoded_bbox", true)),
                        entry("bbox_coder", BoxCoderKind.clippingCoder(head.object("bbox_coder"))),
                        entry("assigner", assigner(train.object("assigner"))),
                        entry("sampler", new PseudoSampler()),
                        entry("allowed_border", train.number("allowed_border", -1)),
                        entry("nms_pre", test.integer("nms_pre")),
                        entry("min_bbox_size", test.number("min_bbox_size", -1)),
                        entry("score_thr", test.number("score_thr")),
                        entry("nms", NmsSettings.nms(test, 0))));
    }

    private static int groups(Settings head) {
        if (!head.has("norm_cfg")) {
            // null means no normalization; a missing key means the default.
            return head.keys().contains("norm_cfg") ? 0 : GROUPS;
        }
        Settings norm = head.object("norm_cfg");
        norm.onlyClass("type", "GN");
        norm.describes("requires_grad");
        return norm.integer("num_groups");
    }

    /** Returns the assigner of mmdetection's settings. */
    static AtssAssigner assigner(Settings config) {
        config.onlyClass("type", "ATSSAssigner");
        config.objectOrEmpty("iou_calculator").onlyClass("type", "BboxOverlaps2D");
        config.only("alpha", null);
        return new AtssAssigner(config.integer("topk"), config.number("ignore_iof_thr", -1));
    }
}
