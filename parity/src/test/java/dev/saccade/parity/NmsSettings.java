package dev.saccade.parity;

import dev.saccade.heads.box.HardNms;
import dev.saccade.heads.box.MulticlassNms;
import dev.saccade.heads.box.SoftNms;

import java.util.Locale;

/** mmdetection's NMS settings. */
final class NmsSettings {

    /** No limit. */
    static final int ALL = 100_000_000;

    private NmsSettings() {}

    /** Reads {@code score_thr}, {@code nms} and {@code max_per_img}. */
    static MulticlassNms nms(Settings test) {
        return nms(test, test.number("score_thr"));
    }

    /** Reads {@code nms} and {@code max_per_img}. */
    static MulticlassNms nms(Settings test, double scoreThr) {
        Settings nms = test.object("nms");
        int maxPerImg = test.integer("max_per_img");
        if (nms.has("type") && nms.text("type").equals("soft_nms")) {
            return soft(nms, scoreThr, maxPerImg);
        }
        nms.onlyClass("type", "nms");
        return new HardNms(scoreThr, nms.number("iou_threshold"), maxPerImg);
    }

    /** Reads the arguments of {@code batched_nms} with mmcv's defaults. */
    static SoftNms soft(Settings nms, double scoreThr, int maxPerImg) {
        nms.onlyClass("type", "soft_nms");
        int maxNum = nms.integer("max_num", -1);
        return new SoftNms(
                scoreThr,
                nms.number("iou_threshold", 0.3),
                maxNum > 0 ? Math.min(maxNum, maxPerImg) : maxPerImg,
                SoftNms.Method.valueOf(
                        nms.has("method")
                                ? nms.text("method").toUpperCase(Locale.ROOT)
                                : SoftNms.Method.LINEAR.name()),
                nms.number("sigma", 0.5),
                nms.number("min_score", 0.001),
                nms.integer("offset", 0),
                nms.integer("split_thr", 10_000),
                nms.flag("class_agnostic", false));
    }
}
