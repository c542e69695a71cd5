package dev.saccade.heads;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.DetectionHead;
import dev.saccade.core.parts.FeatureInfo;

import java.util.List;
import java.util.Optional;

/**
 * The heads of Cascade Mask R-CNN (Cai and Vasconcelos 2018) on a pyramid, as in mmdetection: each
 * stage starts from the regions that the one before has moved, and is trained to be stricter;
 * without the mask heads, those of Cascade R-CNN.
 */
public final class CascadeMaskRcnnHead extends TwoStageHead {

    /**
     * One stage.
     *
     * @param bboxHead what says what regions show
     * @param assigner which region learns what
     * @param sampler how many regions are trained
     * @param lossWeight weight of the losses of the stage among those of the others
     */
    public record Stage(
            BoxHead.Config bboxHead,
            MaxIouAssigner assigner,
            RandomSampler sampler,
            double lossWeight) {

        /** The first stage of Swin's recipe. */
        public Stage() {
            this(0.1, 0.2, 0.5, 1);
        }

        /** A stage of Swin's recipe. */
        Stage(double stdOfCentre, double stdOfSize, double iou, double lossWeight) {
            this(
                    new BoxHead.Config(
                            4,
                            256,
                            Norm.SYNC_BN,
                            1,
                            1024,
                            new BoxCoder(
                                    List.of(0.0, 0.0, 0.0, 0.0),
                                    List.of(stdOfCentre, stdOfCentre, stdOfSize, stdOfSize)),
                            false,
                            true,
                            new BoxLoss(BoxLoss.Type.GIOU, 1, 10)),
                    new MaxIouAssigner(iou, iou, iou, false, true, -1, true),
                    new RandomSampler(),
                    lossWeight);
        }

        /** Checks the values. */
        public Stage {
            new Checks().within("loss_weight", lossWeight, 0, 1e6).throwIfAny();
        }
    }

    /**
     * The hyper-parameters of Cascade Mask R-CNN.
     *
     * @param rpnHead what proposes regions
     * @param bboxRoiExtractor what pools them for the box heads
     * @param stages what looks at them, one after the other
     * @param maskRoiExtractor what pools them for the mask heads
     * @param maskHead what draws the masks, in every stage; nothing for Cascade R-CNN
     * @param nms how objects are selected
     * @param maskThrBinary pixels of at least this probability are in a mask
     */
    public record Config(
            RpnHead.Config rpnHead,
            RoiExtractor bboxRoiExtractor,
            List<Stage> stages,
            RoiExtractor maskRoiExtractor,
            Optional<MaskHead.Config> maskHead,
            MulticlassNms nms,
            double maskThrBinary)
            implements DetectionHead.Config {

        /** The heads of Swin's recipe. */
        public Config() {
            this(
                    new RpnHead.Config(
                            256,
                            List.of(8.0),
                            List.of(0.5, 1.0, 2.0),
                            0,
                            new BoxCoder(),
                            new BoxLoss(BoxLoss.Type.SMOOTH_L1, 1.0 / 9, 1),
                            false,
                            new MaxIouAssigner(0.7, 0.3, 0.3, true, true, -1, true),
                            new RandomSampler(256, 0.5, -1, false),
                            0,
                            new Proposals(2000, 2000, 0.7, 0),
                            new Proposals()),
                    new RoiExtractor(),
                    List.of(
                            new Stage(0.1, 0.2, 0.5, 1),
                            new Stage(0.05, 0.1, 0.6, 0.5),
                            new Stage(0.033, 0.067, 0.7, 0.25)),
                    new RoiExtractor(14),
                    Optional.of(new MaskHead.Config()),
                    new MulticlassNms(),
                    0.5);
        }

        /** Checks the values. */
        public Config {
            stages = ImmutableList.copyOf(stages);
            new Checks()
                    .size("stages", stages, 1, 30)
                    .above("mask_thr_binary", maskThrBinary, 0, 1)
                    .throwIfAny();
        }

        @Override
        public String type() {
            return "cascade_mask_rcnn";
        }

        @Override
        public boolean hasMasks() {
            return maskHead.isPresent();
        }

        @Override
        public CascadeMaskRcnnHead build(List<FeatureInfo> features, int numClasses) {
            return new CascadeMaskRcnnHead(this, features, numClasses);
        }
    }

    /** Makes heads without weights. */
    public CascadeMaskRcnnHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(
                config.rpnHead(),
                config.bboxRoiExtractor(),
                config.maskRoiExtractor(),
                config.nms(),
                config.maskThrBinary(),
                features,
                numClasses);
        for (int s = 0; s < config.stages().size(); s++) {
            Stage stage = config.stages().get(s);
            addStage(
                    "." + s,
                    "s" + s + ".",
                    stage.bboxHead(),
                    config.maskHead(),
                    stage.assigner(),
                    stage.sampler(),
                    stage.lossWeight());
        }
    }
}
