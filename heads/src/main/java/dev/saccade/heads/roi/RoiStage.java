package dev.saccade.heads.roi;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.BaseSampler;

import java.util.Optional;

/** A stage that classifies and refines regions; {@code prefix} is prepended to its loss names. */
public record RoiStage(
        RoiStage.Config config, int index, String prefix, BoxHead box, Optional<MaskHead> mask) {

    /** Settings of a stage; {@code loss_weight} scales all its losses. */
    public record Config(
            @Default(
                            "{num_shared_convs: 4, norm: sync_bn, num_shared_fcs: 1,"
                                    + " reg_decoded_bbox: true,"
                                    + " loss_bbox: {type: giou, loss_weight: 10}}")
                    BoxHead.Config bboxHead,
            @Default(
                            "{type: max_iou, pos_iou_thr: 0.5, neg_iou_thr: 0.5, min_pos_iou: 0.5,"
                                    + " match_low_quality: false}")
                    Assigner assigner,
            @Default("{type: random}") BaseSampler sampler,
            @Default("1") double lossWeight) {

        public Config {
            new Checks().inRange("loss_weight", lossWeight, 0, 1e6).throwIfAny();
        }
    }
}
