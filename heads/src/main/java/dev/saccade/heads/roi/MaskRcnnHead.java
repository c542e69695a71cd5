package dev.saccade.heads.roi;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.heads.anchor.RpnHead;
import dev.saccade.heads.box.MulticlassNms;

import java.util.List;
import java.util.Optional;

/** Mask R-CNN (He et al. 2017), as in mmdetection: Faster R-CNN with a mask head. */
public final class MaskRcnnHead extends TwoStageHead {

    @Component("mask_rcnn")
    public record Config(
            @Unwrapped @Default("{assigner: {match_low_quality: true}}")
                    FasterRcnnHead.Config boxes,
            @Default("{output_size: 14}") RoiExtractor maskRoiExtractor,
            MaskHead.Config maskHead,
            @Default("0.5") double maskThrBinary)
            implements TwoStageHead.Config {

        public Config {
            new Checks().above("mask_thr_binary", maskThrBinary, 0, 1).throwIfAny();
        }

        @Override
        public RpnHead.Config rpnHead() {
            return boxes.rpnHead();
        }

        @Override
        public RoiExtractor bboxRoiExtractor() {
            return boxes.bboxRoiExtractor();
        }

        @Override
        public MulticlassNms nms() {
            return boxes.nms();
        }

        @Override
        public double minBboxSize() {
            return boxes.minBboxSize();
        }

        @Override
        public Optional<MaskBranch> masks() {
            return Optional.of(new MaskBranch(maskRoiExtractor, maskHead, maskThrBinary));
        }

        @Override
        public MaskRcnnHead build(List<FeatureInfo> features, int numClasses) {
            return new MaskRcnnHead(this, features, numClasses);
        }
    }

    public MaskRcnnHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(config, features, numClasses);
        addStage("", "", config.boxes().stage(), false);
    }
}
