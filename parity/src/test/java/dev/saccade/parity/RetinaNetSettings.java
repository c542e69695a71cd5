package dev.saccade.parity;

import dev.saccade.heads.anchor.RetinaNetHead;
import dev.saccade.heads.box.MulticlassNms;
import dev.saccade.heads.box.PseudoSampler;
import dev.saccade.heads.loss.FocalLoss;
import dev.saccade.heads.loss.L1Loss;

/** mmdetection's settings of a RetinaNet head. */
final class RetinaNetSettings {

    private RetinaNetSettings() {}

    /** Returns the head; its widths and strides are left to the caller to check. */
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
        return new RetinaNetHead.Config(
                head.integer("feat_channels", 256),
                head.integer("stacked_convs", 4),
                anchors.number("octave_base_scale"),
                anchors.integer("scales_per_octave"),
                anchors.numbers("ratios"),
                AnchorsKind.centerOffset(anchors),
                new FocalLoss(
                        focal.number("gamma", 2),
                        focal.number("alpha", 0.25),
                        focal.number("loss_weight", 1)),
                new L1Loss(boxes.number("loss_weight", 1)),
                head.flag("reg_decoded_bbox", false),
                BoxCoderKind.clippingCoder(head.object("bbox_coder")),
                AssignerKind.assigner(train.object("assigner")),
                new PseudoSampler(),
                test.integer("nms_pre"),
                nms(test));
    }

    private static MulticlassNms nms(Settings test) {
        test.only("min_bbox_size", 0);
        Settings nms = test.object("nms");
        nms.onlyClass("type", "nms");
        return new MulticlassNms(
                test.number("score_thr"), nms.number("iou_threshold"), test.integer("max_per_img"));
    }
}
