package dev.saccade.parity;

import dev.saccade.heads.MulticlassNms;
import dev.saccade.heads.RetinaNetHead;

/** mmdetection's settings of a RetinaNet head. */
final class RetinaNetSettings {

    private RetinaNetSettings() {}

    /** Returns the head; its widths and strides are left to the caller to check. */
    static RetinaNetHead.Config head(Settings head, Settings train, Settings test) {
        head.onlyClass("type", "RetinaHead");
        head.only("reg_decoded_bbox", false);
        Settings anchors = head.object("anchor_generator");
        Settings focal = head.object("loss_cls");
        focal.onlyClass("type", "FocalLoss");
        focal.only("use_sigmoid", true);
        focal.only("loss_weight", 1);
        Settings boxes = head.object("loss_bbox");
        boxes.onlyClass("type", "L1Loss");
        boxes.only("loss_weight", 1);
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
                focal.number("gamma", 2),
                focal.number("alpha", 0.25),
                AssignerKind.assigner(train.object("assigner")),
                BoxCoderKind.clippingCoder(head.object("bbox_coder")),
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
