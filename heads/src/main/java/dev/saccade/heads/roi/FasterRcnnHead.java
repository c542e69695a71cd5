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

/** Faster R-CNN (Ren et al. 2015) on a pyramid, as in mmdetection. */
public final class FasterRcnnHead extends TwoStageHead {

    /**
     * Settings of a two-stage detector with one stage.
     *
     * @param minBboxSize drops detections with a side of at most this many pixels of the network
     *     input before NMS; negative: drops none
     */
    @Component("faster_rcnn")
    public record Config(
            RpnHead.Config rpnHead,
            RoiExtractor bboxRoiExtractor,
            BoxHead.Config bboxHead,
            @Default(
                            "{type: max_iou, pos_iou_thr: 0.5, neg_iou_thr: 0.5, min_pos_iou: 0.5,"
                                    + " match_low_quality: false}")
                    Assigner assigner,
            @Default("{type: random}") BaseSampler sampler,
            @Default("{type: nms}") MulticlassNms nms,
            @Default("-1") double minBboxSize)
            implements TwoStageHead.Config {

        public Config {
            new Checks().inRange("min_bbox_size", minBboxSize, -1, 1e6).throwIfAny();
        }

        @Override
        public Optional<MaskBranch> masks() {
            return Optional.empty();
        }

        @Override
        public FasterRcnnHead build(List<FeatureInfo> features, int numClasses) {
            return new FasterRcnnHead(this, features, numClasses);
        }

        RoiStage.Config stage() {
            return new RoiStage.Config(bboxHead, assigner, sampler, 1);
        }
    }

    public FasterRcnnHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(config, features, numClasses);
        addStage("", "", config.stage(), false);
    }
}
