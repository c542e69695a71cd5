package dev.saccade.heads.roi;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.heads.anchor.RpnHead;
import dev.saccade.heads.box.MulticlassNms;

import java.util.List;
import java.util.Optional;

/**
 * Cascade Mask R-CNN (Cai and Vasconcelos 2018), as in mmdetection: each stage refines the regions
 * of the previous one.
 */
public final class CascadeMaskRcnnHead extends TwoStageHead {

    /** Settings; without {@code mask_head} this is Cascade R-CNN. */
    @Component("cascade_mask_rcnn")
    public record Config(
            @Default(
                            "{loss_bbox: {type: smooth_l1, beta: 0.1111111111111111},"
                                    + " allowed_border: 0, train_proposals: {max_per_img: 2000}}")
                    RpnHead.Config rpnHead,
            RoiExtractor bboxRoiExtractor,
            @Default(
                            "[{},"
                                    + " {bbox_head: {bbox_coder: {target_stds: [0.05, 0.05, 0.1, 0.1]}},"
                                    + " assigner: {pos_iou_thr: 0.6, neg_iou_thr: 0.6, min_pos_iou: 0.6},"
                                    + " loss_weight: 0.5},"
                                    + " {bbox_head: {bbox_coder: {target_stds: [0.033, 0.033, 0.067, 0.067]}},"
                                    + " assigner: {pos_iou_thr: 0.7, neg_iou_thr: 0.7, min_pos_iou: 0.7},"
                                    + " loss_weight: 0.25}]")
                    List<RoiStage.Config> stages,
            @Default("{output_size: 14}") RoiExtractor maskRoiExtractor,
            @Default("{}") Optional<MaskHead.Config> maskHead,
            @Default("{type: nms}") MulticlassNms nms,
            @Default("0.5") double maskThrBinary)
            implements TwoStageHead.Config {

        public Config {
            stages = ImmutableList.copyOf(stages);
            new Checks()
                    .size("stages", stages, 1, 30)
                    .above("mask_thr_binary", maskThrBinary, 0, 1)
                    .throwIfAny();
        }

        @Override
        public Optional<MaskBranch> masks() {
            return maskHead.map(head -> new MaskBranch(maskRoiExtractor, head, maskThrBinary));
        }

        @Override
        public CascadeMaskRcnnHead build(List<FeatureInfo> features, int numClasses) {
            return new CascadeMaskRcnnHead(this, features, numClasses);
        }
    }

    public CascadeMaskRcnnHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(config, features, numClasses);
        addStages(config.stages(), false);
    }
}
