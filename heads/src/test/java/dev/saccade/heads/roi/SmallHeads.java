package dev.saccade.heads.roi;

import dev.saccade.config.Configs;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.heads.anchor.RpnHead;

import java.util.List;
import java.util.stream.Stream;

/** Published two-stage heads with fewer channels. */
final class SmallHeads {

    static final List<FeatureInfo> FEATURES =
            Stream.of(4, 8, 16, 32, 64).map(stride -> new FeatureInfo(8, stride)).toList();

    private SmallHeads() {}

    private static final String RPN =
            "{feat_channels: 8, train_proposals: {nms_pre: 50, max_per_img: 40},"
                    + " test_proposals: {nms_pre: 50, max_per_img: 40}}";

    static RpnHead.Config rpn(String... settings) {
        return Configs.with(maskRcnn().rpnHead(), settings);
    }

    static final String MASK = "{num_convs: 1, conv_out_channels: 8}";

    static MaskRcnnHead.Config maskRcnn(String... settings) {
        MaskRcnnHead.Config small =
                Configs.of(
                        MaskRcnnHead.Config.class,
                        "rpn_head=" + RPN,
                        "bbox_head={conv_out_channels: 8, fc_out_channels: 16}",
                        "mask_head=" + MASK,
                        "sampler.num=20");
        return Configs.with(small, settings);
    }

    static CascadeMaskRcnnHead.Config cascade() {
        return Configs.of(
                CascadeMaskRcnnHead.Config.class,
                "rpn_head=" + RPN,
                "rpn_head.allowed_border=0",
                "stages=[" + stage(0.5) + ", " + stage(0.6) + "]",
                "mask_head=" + MASK);
    }

    /** Hybrid Task Cascade with two stages and a semantic branch with three classes. */
    static HtcHead.Config htc(String... settings) {
        HtcHead.Config small =
                Configs.of(
                        HtcHead.Config.class,
                        "rpn_head=" + RPN,
                        "rpn_head.allowed_border=0",
                        "stages=[" + twoLayers(0.5) + ", " + twoLayers(0.6) + "]",
                        "mask_head=" + MASK,
                        "semantic_head={num_convs: 1, conv_out_channels: 8, num_classes: 3}");
        return Configs.with(small, settings);
    }

    private static String twoLayers(double iou) {
        return stage(iou)
                .replace(
                        "num_shared_convs: 1",
                        "num_shared_convs: 0, norm: none, num_shared_fcs: 2");
    }

    private static String stage(double iou) {
        return "{bbox_head: {num_shared_convs: 1, conv_out_channels: 8, fc_out_channels: 16},"
                + " assigner: {pos_iou_thr: IOU, neg_iou_thr: IOU, min_pos_iou: IOU},"
                        .replace("IOU", Double.toString(iou))
                + " sampler: {num: 20}, loss_weight: 0.5}";
    }
}
