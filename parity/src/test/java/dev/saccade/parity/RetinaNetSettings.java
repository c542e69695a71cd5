package dev.saccade.parity;

import static java.util.Map.entry;

import dev.saccade.config.Configs;
import dev.saccade.heads.anchor.RetinaNetHead;
import dev.saccade.heads.box.PseudoSampler;
import dev.saccade.heads.loss.FocalLoss;
import dev.saccade.heads.loss.L1Loss;

import java.util.Map;

/** mmdetection's settings of a RetinaNet head. */
final class RetinaNetSettings {

    private RetinaNetSettings() {}

    /** Returns the head; the caller checks widths and strides. */
    static RetinaNetHead.Config head(Settings head, Settings train, Settings test) {
        head.onlyClass("type", "RetinaHead");
        Settings anchors = head.object("anchor_generator");
        Settings focal = head.object("loss_cls");
        focal.onlyClass("type", "FocalLoss");
        focal.only("use_sigmoid", true);
        Settings boxes = head.object("loss_bbox");
        boxes.onlyClass("type", "L1Loss");
        train.only("allowed_border", -1);
        train.only("pos_weight", -1);
        train.describes("debug");
        test.only("min_bbox_size", 0);
        return Configs.of(
                RetinaNetHead.Config.class,
                Map.ofEntries(
                        entry("feat_channels", head.integer("feat_channels", 256)),
                        entry("stacked_convs", head.integer("stacked_convs", 4)),
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
                        entry("loss_bbox", new L1Loss(boxes.number("loss_weight", 1))),
                        entry("reg_decoded_bbox", head.flag("reg_decoded_bbox", false)),
                        entry("bbox_coder", BoxCoderKind.clippingCoder(head.object("bbox_coder"))),
                        entry("assigner", AssignerKind.assigner(train.object("assigner"))),
                        entry("sampler", new PseudoSampler()),
                        entry("nms_pre", test.integer("nms_pre")),
                        entry("nms", NmsSettings.nms(test))));
    }
}
