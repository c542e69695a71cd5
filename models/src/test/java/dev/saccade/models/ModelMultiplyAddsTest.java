package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.backbones.ElsaSwin;
import dev.saccade.backbones.ResNet;
import dev.saccade.backbones.Swin;
import dev.saccade.config.Configs;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.components.HeadConfig;
import dev.saccade.core.components.Neck;
import dev.saccade.core.nn.Norm;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.anchor.RetinaNetHead;
import dev.saccade.heads.roi.CascadeMaskRcnnHead;
import dev.saccade.heads.roi.FasterRcnnHead;
import dev.saccade.heads.roi.HtcHead;
import dev.saccade.heads.roi.MaskRcnnHead;
import dev.saccade.heads.segmentation.FcnHead;
import dev.saccade.heads.segmentation.UperNetHead;
import dev.saccade.necks.Fpn;

import org.junit.jupiter.api.Test;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;

class ModelMultiplyAddsTest {

    private static final Size DETECTION = new Size(800, 1280);
    private static final Size SMALL = new Size(64, 64);
    private static final Fpn.Config FPN =
            new Fpn.Config(256, 0, 5, Fpn.ExtraConvs.NONE, false, Norm.NONE);
    private static final Backbone.Config ELSA_TINY =
            Configs.of(ElsaSwin.Config.class, "variant=tiny");
    private static final Backbone.Config SWIN_TINY = Configs.of(Swin.Config.class, "variant=tiny");

    private static Model<?> detector(
            Backbone.Config backbone, Neck.Config neck, DetectionHead.Config head) {
        return ModelConfig.detector(backbone, neck, head).build(Collections.nCopies(80, "class"));
    }

    private static double billions(Model<?> model, Size size) {
        return model.multiplyAdds(size) / 1e9;
    }

    /** Published: 269 (ELSA, Table 4), 267 (Swin) and 239 (mmdetection). */
    @Test
    void countsDetectors() {
        MaskRcnnHead.Config maskRcnn = Configs.of(MaskRcnnHead.Config.class);
        assertEquals(269.2, billions(detector(ELSA_TINY, FPN, maskRcnn), DETECTION), 0.05);
        assertEquals(266.6, billions(detector(SWIN_TINY, FPN, maskRcnn), DETECTION), 0.05);
        Model<?> retinaNet =
                detector(
                        Configs.of(ResNet.Config.class, "depth=50"),
                        new Fpn.Config(256, 1, 5, Fpn.ExtraConvs.ON_INPUT, false, Norm.NONE),
                        Configs.of(RetinaNetHead.Config.class));
        assertEquals(238.5, billions(retinaNet, DETECTION), 0.05);
    }

    /** Published: 748 (ELSA, Table 4). */
    @Test
    void countsEveryStageOfACascade() {
        CascadeMaskRcnnHead.Config cascade = Configs.of(CascadeMaskRcnnHead.Config.class);
        assertEquals(747.4, billions(detector(ELSA_TINY, FPN, cascade), DETECTION), 0.05);
    }

    /** Published: 945 (Swin). */
    @Test
    void countsASegmenterWithoutItsAuxiliaryHead() {
        HeadConfig head = Configs.of(UperNetHead.Config.class);
        HeadConfig auxiliary = Configs.of(FcnHead.Config.class);
        List<String> classes = Collections.nCopies(150, "class");
        Model<?> with =
                new ModelConfig(
                                SWIN_TINY,
                                Optional.empty(),
                                head,
                                Optional.of(auxiliary),
                                Optional.empty())
                        .build(classes);
        Model<?> without =
                new ModelConfig(
                                SWIN_TINY,
                                Optional.empty(),
                                head,
                                Optional.empty(),
                                Optional.empty())
                        .build(classes);
        assertEquals(944.4, billions(with, new Size(512, 2048)), 0.05);
        assertEquals(without.multiplyAdds(SMALL), with.multiplyAdds(SMALL));
    }

    @Test
    void countsAThousandProposalsAndAHundredMasks() {
        Backbone.Config resnet = Configs.of(ResNet.Config.class, "depth=18");
        Model<?> masks = detector(resnet, FPN, Configs.of(MaskRcnnHead.Config.class));
        Model<?> boxes = detector(resnet, FPN, Configs.of(FasterRcnnHead.Config.class));
        long maskHead = 100L * maskHead(0);
        assertEquals(maskHead, masks.multiplyAdds(SMALL) - boxes.multiplyAdds(SMALL));
        assertEquals(Map.of("proposals", 1000, "masks", 100), masks.dummyObjects());
        assertEquals(Map.of("proposals", 1000), boxes.dummyObjects());

        Model<?> wider =
                detector(
                        resnet,
                        FPN,
                        Configs.of(FasterRcnnHead.Config.class, "bbox_head.fc_out_channels=1025"));
        // One more channel in the first linear layer (7x7x256 inputs) and in the second (1,024
        // inputs and outputs, and itself), plus 81 score and 320 box delta outputs.
        long channel = 7 * 7 * 256 + 1024 + 1024 + 1 + 81 + 320;
        assertEquals(1000 * channel, wider.multiplyAdds(SMALL) - boxes.multiplyAdds(SMALL));
    }

    @Test
    void countsTheMaskInformationFlowOfHybridTaskCascade() {
        Backbone.Config resnet = Configs.of(ResNet.Config.class, "depth=18");
        String[] plain = {"semantic_head=null", "mask_info_flow=false"};
        Model<?> flow =
                detector(resnet, FPN, Configs.of(HtcHead.Config.class, "semantic_head=null"));
        Model<?> alone = detector(resnet, FPN, Configs.of(HtcHead.Config.class, plain));
        Model<?> cascade =
                detector(
                        resnet,
                        FPN,
                        Configs.of(
                                HtcHead.Config.class,
                                "semantic_head=null",
                                "mask_info_flow=false",
                                "mask_head.num_convs=3"));
        long residuals = maskHead(1) - maskHead(0);
        assertEquals(2 * 100 * residuals, flow.multiplyAdds(SMALL) - alone.multiplyAdds(SMALL));
        assertEquals(
                3 * 100 * 14 * 14 * 9 * 256 * 256L,
                alone.multiplyAdds(SMALL) - cascade.multiplyAdds(SMALL));

        Model<?> semantic = detector(resnet, FPN, Configs.of(HtcHead.Config.class));
        // Five lateral 1x1 convolutions, four 3x3, one 1x1 and 183 classes, all at stride 8.
        long branch = 8 * 8 * (256 * 256 * (5 + 4 * 9 + 1) + 256 * 183L);
        assertEquals(branch, semantic.multiplyAdds(SMALL) - flow.multiplyAdds(SMALL));
    }

    /** Returns the multiply-adds of one mask with 80 classes. */
    private static long maskHead(int residuals) {
        long channels = 256 * 256;
        long convs = 14 * 14 * channels * (4 * 9 + residuals);
        return convs + 28 * 28 * (channels + 256 * 80L);
    }
}
