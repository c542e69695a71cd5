package dev.saccade.heads.roi;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.heads.anchor.RpnHead;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.BaseSampler;
import dev.saccade.heads.box.MulticlassNms;

import java.util.List;
import java.util.Optional;

/** Mask R-CNN (He et al. 2017) as in mmdetection; without a mask head, Faster R-CNN. */
public final class MaskRcnnHead extends TwoStageHead {

    /** Settings; without {@code mask_head} this is Faster R-CNN. */
    @Component("mask_rcnn")
    public record Config(
            RpnHead.Config rpnHead,
            RoiExtractor bboxRoiExtractor,
            BoxHead.Config bboxHead,
            @Default("{output_size: 14}") RoiExtractor maskRoiExtractor,
            @Default("{}") Optional<MaskHead.Config> maskHead,
            @Default("{type: max_iou, pos_iou_thr: 0.5, neg_iou_thr: 0.5, min_pos_iou: 0.5}")
                    Assigner assigner,
            @Default("{type: random}") BaseSampler sampler,
            @Default("{type: nms}") MulticlassNms nms,
            @Default("0.5") double maskThrBinary)
            implements TwoStageHead.Config {

        public Config {
            new Checks().above("mask_thr_binary", maskThrBinary, 0, 1).throwIfAny();
        }

        @Override
        public MaskRcnnHead build(List<FeatureInfo> features, int numClasses) {
            return new MaskRcnnHead(this, features, numClasses);
        }
    }

    public MaskRcnnHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(config, features, numClasses);
        addStage(
                "",
                "",
                new RoiStage.Config(config.bboxHead(), config.assigner(), config.sampler(), 1),
                false);
    }
}
