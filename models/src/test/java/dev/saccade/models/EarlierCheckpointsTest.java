package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.config.Configs;
import dev.saccade.core.parts.HeadConfig;
import dev.saccade.heads.anchor.RetinaNetHead;
import dev.saccade.heads.loss.BoxLoss;
import dev.saccade.heads.loss.CiouLoss;
import dev.saccade.heads.loss.FocalLoss;
import dev.saccade.heads.loss.GiouLoss;
import dev.saccade.heads.loss.L1Loss;
import dev.saccade.heads.loss.SmoothL1Loss;
import dev.saccade.heads.roi.CascadeMaskRcnnHead;
import dev.saccade.heads.roi.MaskRcnnHead;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What checkpoints say of their heads that were written when assigners, samplers, coders and losses
 * were no parts: every default written out, none with a type.
 */
class EarlierCheckpointsTest {

    private static final String ASSIGNER =
            "{pos_iou_thr: %s, neg_iou_thr: %s, min_pos_iou: %s, match_low_quality: %s,"
                    + " gt_max_assign_all: true, ignore_iof_thr: -1.0, ignore_wrt_candidates:"
                    + " true}";

    private static final String SAMPLER =
            "{num: %d, pos_fraction: %s, neg_pos_ub: -1.0, add_gt_as_proposals: %s}";

    private static final String CODER = "{means: [0.0, 0.0, 0.0, 0.0], stds: [%s, %s, %s, %s]}";

    private static final String NMS = "{score_thr: 0.05, iou_thr: 0.5, max_per_img: 100}";

    private static final String RETINANET =
            """
            type: retinanet
            feat_channels: 256
            stacked_convs: 4
            octave_base_scale: 4.0
            scales_per_octave: 3
            ratios: [0.5, 1.0, 2.0]
            center_offset: 0.0
            focal_gamma: %s
            focal_alpha: %s
            assigner: ASSIGNER
            bbox_coder: CODER
            nms_pre: 1000
            nms: NMS
            """
                    .replace("ASSIGNER", String.format(Locale.ROOT, ASSIGNER, 0.5, 0.4, 0.0, true))
                    .replace("CODER", String.format(Locale.ROOT, CODER, 1.0, 1.0, 1.0, 1.0))
                    .replace("NMS", NMS);

    private static final String TWO_STAGES =
            """
            rpn_head:
              feat_channels: 256
              scales: [8.0]
              ratios: [0.5, 1.0, 2.0]
              center_offset: 0.0
              bbox_coder: CODER
              loss_bbox: %s
              reg_decoded_bbox: %s
              assigner: ASSIGNER
              sampler: SAMPLER
              allowed_border: %s
              train_proposals: {nms_pre: 2000, max_per_img: %d, iou_thr: 0.7, min_bbox_size: 0.0}
              test_proposals: {nms_pre: 1000, max_per_img: 1000, iou_thr: 0.7, min_bbox_size: 0.0}
            bbox_roi_extractor:
              output_size: 7
              sampling_ratio: 0
              aligned: true
              featmap_strides: [4, 8, 16, 32]
              finest_scale: 56.0
            mask_roi_extractor:
              output_size: 14
              sampling_ratio: 0
              aligned: true
              featmap_strides: [4, 8, 16, 32]
              finest_scale: 56.0
            mask_head:
              num_convs: 4
              conv_out_channels: 256
              norm: none
              class_agnostic: false
              loss_weight: 1.0
            nms: NMS
            mask_thr_binary: 0.5
            """
                    .replace("ASSIGNER", String.format(Locale.ROOT, ASSIGNER, 0.7, 0.3, 0.3, true))
                    .replace("SAMPLER", String.format(Locale.ROOT, SAMPLER, 256, 0.5, false))
                    .replace("CODER", String.format(Locale.ROOT, CODER, 1.0, 1.0, 1.0, 1.0))
                    .replace("NMS", NMS);

    private static HeadConfig read(String head) {
        String text =
                String.format(
                        Locale.ROOT,
                        """
                model:
                  backbone: {type: resnet}
                  neck: {type: fpn}
                  head:
                %s
                transforms: []
                classes: [a]
                """,
                        head.indent(4));
        return ModelSpec.fromMetadata(Map.of("saccade.model", text), "earlier").model().head();
    }

    @Test
    void retinaNetHadOneFocalLoss() {
        assertEquals(
                Configs.of(RetinaNetHead.Config.class),
                read(String.format(Locale.ROOT, RETINANET, 2.0, 0.25)));
        RetinaNetHead.Config other =
                (RetinaNetHead.Config) read(String.format(Locale.ROOT, RETINANET, 1.5, 0.4));
        assertEquals(new FocalLoss(1.5, 0.4, 1), other.lossCls());
    }

    static Stream<Arguments> boxLosses() {
        return Stream.of(
                Arguments.of("{type: l1, beta: 1.0, loss_weight: 1.0}", new L1Loss(1)),
                Arguments.of(
                        "{type: smooth_l1, beta: 0.25, loss_weight: 2.0}",
                        new SmoothL1Loss(0.25, 2)),
                Arguments.of("{type: giou, beta: 1.0, loss_weight: 10.0}", new GiouLoss(10)),
                Arguments.of("{type: ciou, beta: 0.5, loss_weight: 10.0}", new CiouLoss(10)));
    }

    @ParameterizedTest
    @MethodSource("boxLosses")
    void everyBoxLossHadABeta(String written, BoxLoss loss) {
        String head =
                "type: mask_rcnn\n"
                        + String.format(
                                Locale.ROOT, TWO_STAGES, written, loss.comparesBoxes(), -1.0, 1000)
                        + String.format(
                                Locale.ROOT,
                                """
                        bbox_head:
                          num_shared_convs: 0
                          conv_out_channels: 256
                          norm: none
                          num_shared_fcs: 2
                          fc_out_channels: 1024
                          bbox_coder: %s
                          reg_class_agnostic: false
                          reg_decoded_bbox: false
                          loss_bbox: {type: l1, beta: 1.0, loss_weight: 1.0}
                        assigner: %s
                        sampler: %s
                        """,
                                String.format(Locale.ROOT, CODER, 0.1, 0.1, 0.2, 0.2),
                                String.format(Locale.ROOT, ASSIGNER, 0.5, 0.5, 0.5, true),
                                String.format(Locale.ROOT, SAMPLER, 512, 0.25, true));
        MaskRcnnHead.Config read = (MaskRcnnHead.Config) read(head);
        assertEquals(loss, read.rpnHead().lossBbox());
        if (loss.equals(new L1Loss(1))) {
            assertEquals(Configs.of(MaskRcnnHead.Config.class), read);
        }
    }

    @Test
    void stagesOfACascadeHadNoTypes() {
        StringBuilder stages = new StringBuilder("stages:\n");
        double[][] stds = {{0.1, 0.2}, {0.05, 0.1}, {0.033, 0.067}};
        for (int s = 0; s < 3; s++) {
            double iou = 0.5 + s / 10.0;
            stages.append(
                    String.format(
                            Locale.ROOT,
                            """
                    - bbox_head:
                        num_shared_convs: 4
                        conv_out_channels: 256
                        norm: sync_bn
                        num_shared_fcs: 1
                        fc_out_channels: 1024
                        bbox_coder: %s
                        reg_class_agnostic: false
                        reg_decoded_bbox: true
                        loss_bbox: {type: giou, beta: 1.0, loss_weight: 10.0}
                      assigner: %s
                      sampler: %s
                      loss_weight: %s
                    """,
                            String.format(
                                    Locale.ROOT,
                                    CODER,
                                    stds[s][0],
                                    stds[s][0],
                                    stds[s][1],
                                    stds[s][1]),
                            String.format(Locale.ROOT, ASSIGNER, iou, iou, iou, false),
                            String.format(Locale.ROOT, SAMPLER, 512, 0.25, true),
                            1.0 / (1 << s)));
        }
        String rpn = "{type: smooth_l1, beta: 0.1111111111111111, loss_weight: 1.0}";
        assertEquals(
                Configs.of(CascadeMaskRcnnHead.Config.class),
                read(
                        "type: cascade_mask_rcnn\n"
                                + String.format(Locale.ROOT, TWO_STAGES, rpn, false, 0.0, 2000)
                                + stages));
    }
}
