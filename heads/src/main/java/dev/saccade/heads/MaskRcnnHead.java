package dev.saccade.heads;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.DetectionHead;
import dev.saccade.core.parts.FeatureInfo;

import java.util.List;
import java.util.Optional;

/**
 * The heads of Mask R-CNN (He et al. 2017) on a pyramid, as in mmdetection; without the mask head,
 * those of Faster R-CNN.
 */
public final class MaskRcnnHead extends TwoStageHead {

    /**
     * The hyper-parameters of Mask R-CNN.
     *
     * @param rpnHead what proposes regions
     * @param bboxRoiExtractor what pools them for the box head
     * @param bboxHead what says what they show
     * @param maskRoiExtractor what pools them for the mask head
     * @param maskHead what draws the masks; nothing for Faster R-CNN
     * @param assigner which region learns what
     * @param sampler how many regions are trained
     * @param nms how objects are selected
     * @param maskThrBinary pixels of at least this probability are in a mask
     */
    public record Config(
            RpnHead.Config rpnHead,
            RoiExtractor bboxRoiExtractor,
            BoxHead.Config bboxHead,
            RoiExtractor maskRoiExtractor,
            Optional<MaskHead.Config> maskHead,
            MaxIouAssigner assigner,
            RandomSampler sampler,
            MulticlassNms nms,
            double maskThrBinary)
            implements DetectionHead.Config {

        /** The heads of mmdetection's {@code mask_rcnn_r50_fpn_1x_coco}. */
        public Config() {
            this(
                    new RpnHead.Config(),
                    new RoiExtractor(),
                    new BoxHead.Config(),
                    new RoiExtractor(14),
                    Optional.of(new MaskHead.Config()),
                    new MaxIouAssigner(0.5, 0.5, 0.5, true, true, -1, true),
                    new RandomSampler(),
                    new MulticlassNms(),
                    0.5);
        }

        /** Checks the values. */
        public Config {
            new Checks().above("mask_thr_binary", maskThrBinary, 0, 1).throwIfAny();
        }

        @Override
        public String type() {
            return "mask_rcnn";
        }

        @Override
        public boolean hasMasks() {
            return maskHead.isPresent();
        }

        @Override
        public MaskRcnnHead build(List<FeatureInfo> features, int numClasses) {
            return new MaskRcnnHead(this, features, numClasses);
        }
    }

    /** Makes heads without weights. */
    public MaskRcnnHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(
                config.rpnHead(),
                config.bboxRoiExtractor(),
                config.maskRoiExtractor(),
                config.nms(),
                config.maskThrBinary(),
                features,
                numClasses);
        addStage(
                "",
                "",
                config.bboxHead(),
                config.maskHead(),
                config.assigner(),
                config.sampler(),
                1);
    }
}
