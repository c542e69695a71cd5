package dev.saccade.parity;

import static java.util.Map.entry;

import dev.saccade.config.Configs;
import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.nn.Norm;
import dev.saccade.core.ops.vision.MaskStyle;
import dev.saccade.heads.anchor.ProposalConfig;
import dev.saccade.heads.anchor.RpnHead;
import dev.saccade.heads.box.BaseSampler;
import dev.saccade.heads.box.RandomSampler;
import dev.saccade.heads.loss.BoxLoss;
import dev.saccade.heads.loss.ClassificationLoss;
import dev.saccade.heads.loss.CrossEntropyLoss;
import dev.saccade.heads.loss.L1Loss;
import dev.saccade.heads.loss.OverlapLoss.CiouLoss;
import dev.saccade.heads.loss.OverlapLoss.DiouLoss;
import dev.saccade.heads.loss.OverlapLoss.GiouLoss;
import dev.saccade.heads.loss.OverlapLoss.IouLoss;
import dev.saccade.heads.loss.SmoothL1Loss;
import dev.saccade.heads.roi.BoxHead;
import dev.saccade.heads.roi.CascadeMaskRcnnHead;
import dev.saccade.heads.roi.FasterRcnnHead;
import dev.saccade.heads.roi.HtcHead;
import dev.saccade.heads.roi.MaskHead;
import dev.saccade.heads.roi.MaskRcnnHead;
import dev.saccade.heads.roi.RoiExtractor;
import dev.saccade.heads.roi.RoiStage;
import dev.saccade.heads.segmentation.FusedSemanticHead;
import dev.saccade.heads.segmentation.PixelCrossEntropy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** mmdetection's settings of detectors with two or more stages. */
final class TwoStageSettings {

    private final Settings model;
    private final Settings roiHead;
    private final int channels;
    private final boolean dropsEmptyProposals;

    /**
     * Reads settings.
     *
     * @param dropsEmptyProposals whether proposals must be larger than {@code min_bbox_size}, as in
     *     mmdetection 2.14 and later, instead of equal or larger
     */
    TwoStageSettings(Settings model, int channels, boolean dropsEmptyProposals) {
        this.model = model;
        this.dropsEmptyProposals = dropsEmptyProposals;
        this.roiHead = model.object("roi_head");
        this.channels = channels;
    }

    int numClasses() {
        return roiHead.objects("bbox_head").get(0).integer("num_classes");
    }

    DetectionHead.Config head() {
        String type = roiHead.text("type");
        return switch (type) {
            case "StandardRoIHead" -> standard();
            case "CascadeRoIHead" -> cascade();
            case "HybridTaskCascadeRoIHead" -> htc(false);
            default -> throw roiHead.unbuilt("type");
        };
    }

    /** Returns a head of mmdetection 2, which averages the masks of all stages. */
    DetectionHead.Config averagingHead() {
        return roiHead.text("type").equals("HybridTaskCascadeRoIHead") ? htc(true) : head();
    }

    private DetectionHead.Config standard() {
        Settings train = model.object("train_cfg").object("rcnn");
        trained(train);
        Settings test = model.object("test_cfg").object("rcnn");
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("rpn_head", rpn());
        settings.put("bbox_roi_extractor", boxExtractor());
        settings.put("bbox_head", boxHead(roiHead.object("bbox_head")));
        settings.put("assigner", AssignerKind.assigner(train.object("assigner")));
        settings.put("sampler", sampler(train.object("sampler")));
        settings.put("nms", NmsSettings.nms(test));
        double threshold = test.number("mask_thr_binary", 0.5);
        List<MaskHead.Config> masks = maskHeads();
        if (masks.isEmpty()) {
            return Configs.of(FasterRcnnHead.Config.class, settings);
        }
        settings.put("mask_roi_extractor", maskExtractor());
        settings.put("mask_head", masks.get(0));
        settings.put("mask_thr_binary", threshold);
        return Configs.of(MaskRcnnHead.Config.class, settings);
    }

    private List<RoiStage.Config> stages() {
        int stages = roiHead.integer("num_stages");
        List<Double> weights = roiHead.numbers("stage_loss_weights");
        List<Settings> heads = roiHead.objects("bbox_head");
        List<Settings> trains = model.object("train_cfg").objects("rcnn");
        List<RoiStage.Config> built = new ArrayList<>();
        for (int s = 0; s < stages; s++) {
            Settings train = trains.get(Math.min(s, trains.size() - 1));
            trained(train);
            built.add(
                    new RoiStage.Config(
                            boxHead(heads.get(Math.min(s, heads.size() - 1))),
                            AssignerKind.assigner(train.object("assigner")),
                            sampler(train.object("sampler")),
                            weights.get(s)));
        }
        return built;
    }

    /** Returns the mask head of each cascade stage. */
    private Optional<MaskHead.Config> maskHead() {
        List<MaskHead.Config> masks = maskHeads();
        if (masks.stream().distinct().count() > 1) {
            throw roiHead.refused("mask_head", "expected the same in all stages");
        }
        return masks.stream().findFirst();
    }

    private DetectionHead.Config cascade() {
        Settings test = model.object("test_cfg").object("rcnn");
        return Configs.of(
                CascadeMaskRcnnHead.Config.class,
                Map.of(
                        "rpn_head",
                        rpn(),
                        "bbox_roi_extractor",
                        boxExtractor(),
                        "stages",
                        stages(),
                        "mask_roi_extractor",
                        maskExtractor(),
                        "mask_head",
                        maskHead(),
                        "nms",
                        NmsSettings.nms(test),
                        "mask_thr_binary",
                        test.number("mask_thr_binary", 0.5)));
    }

    private DetectionHead.Config htc(boolean averageMasks) {
        Settings test = model.object("test_cfg").object("rcnn");
        boolean semantic = roiHead.has("semantic_head");
        return Configs.of(
                HtcHead.Config.class,
                Map.ofEntries(
                        entry("rpn_head", rpn()),
                        entry("bbox_roi_extractor", boxExtractor()),
                        entry("stages", stages()),
                        entry("mask_roi_extractor", maskExtractor()),
                        entry("mask_head", maskHead()),
                        entry("interleaved", roiHead.flag("interleaved", true)),
                        entry("mask_info_flow", roiHead.flag("mask_info_flow", true)),
                        entry("average_masks", averageMasks),
                        entry(
                                "semantic_head",
                                semantic ? Optional.of(semanticHead()) : Optional.empty()),
                        entry("semantic_roi_extractor", semanticExtractor()),
                        entry("semantic_fusion", semanticFusion()),
                        entry("nms", NmsSettings.nms(test)),
                        entry("mask_thr_binary", test.number("mask_thr_binary", 0.5))));
    }

    private RoiExtractor semanticExtractor() {
        return roiHead.has("semantic_roi_extractor")
                ? RoiExtractorKind.extractor(roiHead.object("semantic_roi_extractor"), channels)
                : Configs.of(RoiExtractor.class, "output_size=14", "featmap_strides=[8]");
    }

    private List<HtcHead.Fusion> semanticFusion() {
        return roiHead.has("semantic_fusion")
                ? roiHead.texts("semantic_fusion").stream()
                        .map(branch -> HtcHead.Fusion.valueOf(branch.toUpperCase(Locale.ROOT)))
                        .toList()
                : List.of(HtcHead.Fusion.values());
    }

    private FusedSemanticHead.Config semanticHead() {
        Settings head = roiHead.object("semantic_head");
        head.onlyClass("type", "FusedSemanticHead");
        Settings anchors = model.object("rpn_head").object("anchor_generator");
        head.only("num_ins", anchors.integers("strides").size());
        head.only("in_channels", channels);
        head.only("conv_cfg", null);
        head.only("norm_cfg", null);
        int stride = semanticExtractor().featmapStrides().get(0);
        if (head.number("seg_scale_factor", 1.0 / 8) * stride != 1) {
            throw head.refused("seg_scale_factor", "expected 1 / " + stride);
        }
        Settings loss = head.objectOrEmpty("loss_seg");
        loss.onlyClass("type", "CrossEntropyLoss");
        loss.only("use_sigmoid", false);
        loss.only("use_mask", false);
        loss.only("reduction", "mean");
        loss.only("ignore_index", 255);
        head.only("ignore_label", 255);
        return new FusedSemanticHead.Config(
                head.integer("fusion_level"),
                head.integer("num_convs", 4),
                head.integer("conv_out_channels", 256),
                head.integer("num_classes", 183),
                new PixelCrossEntropy(
                        head.number(
                                "loss_weight",
                                loss.number("loss_weight", head.has("loss_seg") ? 1 : 0.2)),
                        loss.has("class_weight") ? loss.numbers("class_weight") : List.of(),
                        loss.flag("avg_non_ignore", false)));
    }

    private RpnHead.Config rpn() {
        Settings head = model.object("rpn_head");
        head.onlyClass("type", "RPNHead");
        Settings anchors = head.object("anchor_generator");
        Settings train = model.object("train_cfg").object("rpn");
        train.only("pos_weight", -1);
        train.describes("debug");
        Settings trainProposals =
                model.object("train_cfg").has("rpn_proposal")
                        ? model.object("train_cfg").object("rpn_proposal")
                        : model.object("test_cfg").object("rpn");
        return Configs.of(
                RpnHead.Config.class,
                Map.ofEntries(
                        entry("feat_channels", head.integer("feat_channels", 256)),
                        entry("scales", AnchorsKind.scales(anchors)),
                        entry("ratios", anchors.numbers("ratios")),
                        entry("scale_major", anchors.flag("scale_major", true)),
                        entry("center_offset", AnchorsKind.centerOffset(anchors)),
                        entry("bbox_coder", BoxCoderKind.clippingCoder(head.object("bbox_coder"))),
                        entry("loss_cls", crossEntropy(head.object("loss_cls"), true)),
                        entry("loss_bbox", boxLoss(head.object("loss_bbox"))),
                        entry("reg_decoded_bbox", head.flag("reg_decoded_bbox", false)),
                        entry("assigner", AssignerKind.assigner(train.object("assigner"))),
                        entry("sampler", sampler(train.object("sampler"))),
                        entry("allowed_border", train.number("allowed_border", -1)),
                        entry("train_proposals", proposals(trainProposals)),
                        entry(
                                "test_proposals",
                                proposals(model.object("test_cfg").object("rpn")))));
    }

    private ProposalConfig proposals(Settings config) {
        Settings nms = config.object("nms");
        nms.onlyClass("type", "nms");
        config.describes("nms_across_levels", "nms_post");
        double least = config.number("min_bbox_size", dropsEmptyProposals ? -1 : 0);
        double before = least > 0 ? Math.nextDown((float) least) : -1;
        return new ProposalConfig(
                config.integer("nms_pre"),
                config.integer("max_per_img"),
                nms.number("iou_threshold"),
                dropsEmptyProposals ? least : before);
    }

    private BaseSampler sampler(Settings config) {
        config.onlyClass("type", "RandomSampler");
        RandomSampler sampler =
                new RandomSampler(
                        config.integer("num"),
                        config.number("pos_fraction"),
                        config.number("neg_pos_ub", -1),
                        config.flag("add_gt_as_proposals", true));
        return new CountingSampler(sampler);
    }

    private RoiExtractor boxExtractor() {
        return RoiExtractorKind.extractor(roiHead.object("bbox_roi_extractor"), channels);
    }

    private RoiExtractor maskExtractor() {
        return roiHead.has("mask_roi_extractor")
                ? RoiExtractorKind.extractor(roiHead.object("mask_roi_extractor"), channels)
                : Configs.of(RoiExtractor.class, "output_size=14");
    }

    private BoxHead.Config boxHead(Settings head) {
        String type = head.text("type");
        int convs = 0;
        int fcs = 0;
        switch (type) {
            case "Shared2FCBBoxHead" -> fcs = 2;
            case "Shared4Conv1FCBBoxHead" -> {
                convs = 4;
                fcs = 1;
            }
            case "ConvFCBBoxHead" -> {}
            default -> throw head.unbuilt("type");
        }
        head.only("in_channels", channels);
        head.only("roi_feat_size", boxExtractor().outputSize());
        head.only("num_classes", numClasses());
        head.only("with_avg_pool", false);
        head.only("conv_cfg", null);
        for (String branch : List.of("cls_convs", "cls_fcs", "reg_convs", "reg_fcs")) {
            head.only("num_" + branch, 0);
        }
        return Configs.of(
                BoxHead.Config.class,
                Map.of(
                        "num_shared_convs",
                        head.integer("num_shared_convs", convs),
                        "conv_out_channels",
                        head.integer("conv_out_channels", 256),
                        "norm",
                        norm(head),
                        "num_shared_fcs",
                        head.integer("num_shared_fcs", fcs),
                        "fc_out_channels",
                        head.integer("fc_out_channels", 1024),
                        "bbox_coder",
                        BoxCoderKind.clippingCoder(head.object("bbox_coder")),
                        "reg_class_agnostic",
                        head.flag("reg_class_agnostic", false),
                        "reg_decoded_bbox",
                        head.flag("reg_decoded_bbox", false),
                        "loss_cls",
                        crossEntropy(head.object("loss_cls"), false),
                        "loss_bbox",
                        boxLoss(head.object("loss_bbox"))));
    }

    private List<MaskHead.Config> maskHeads() {
        return roiHead.has("mask_head")
                ? roiHead.objects("mask_head").stream().map(this::maskHead).toList()
                : List.of();
    }

    private MaskHead.Config maskHead(Settings head) {
        boolean flows = roiHead.text("type").equals("HybridTaskCascadeRoIHead");
        head.onlyClass("type", flows ? "HTCMaskHead" : "FCNMaskHead");
        if (flows) {
            head.describes("with_conv_res");
        }
        head.only("in_channels", channels);
        head.only("num_classes", numClasses());
        head.only("roi_feat_size", maskExtractor().outputSize());
        head.only("conv_kernel_size", 3);
        head.only("conv_cfg", null);
        Settings loss = head.object("loss_mask");
        loss.onlyClass("type", "CrossEntropyLoss");
        loss.only("use_mask", true);
        return new MaskHead.Config(
                head.integer("num_convs", 4),
                head.integer("conv_out_channels", 256),
                norm(head),
                head.flag("class_agnostic", false),
                MaskStyle.MMDETECTION,
                loss.number("loss_weight", 1));
    }

    private static ClassificationLoss crossEntropy(Settings loss, boolean sigmoid) {
        loss.onlyClass("type", "CrossEntropyLoss");
        loss.only("use_sigmoid", sigmoid);
        return new CrossEntropyLoss(sigmoid, loss.number("loss_weight", 1));
    }

    private static Norm norm(Settings head) {
        if (!head.has("norm_cfg")) {
            return Norm.NONE;
        }
        Settings norm = head.object("norm_cfg");
        norm.only("requires_grad", true);
        return switch (norm.text("type")) {
            case "BN" -> Norm.BN;
            case "SyncBN" -> Norm.SYNC_BN;
            default -> throw norm.unbuilt("type");
        };
    }

    /** Returns the box loss of mmdetection's settings. */
    static BoxLoss boxLoss(Settings loss) {
        loss.only("reduction", "mean");
        loss.only("eps", 1e-6);
        loss.only("linear", false);
        double weight = loss.number("loss_weight", 1);
        return switch (loss.text("type")) {
            case "L1Loss" -> new L1Loss(weight);
            case "SmoothL1Loss" -> new SmoothL1Loss(loss.number("beta", 1), weight);
            case "IoULoss" -> new IouLoss(weight);
            case "GIoULoss" -> new GiouLoss(weight);
            case "DIoULoss" -> new DiouLoss(weight);
            case "CIoULoss" -> new CiouLoss(weight);
            default -> throw loss.unbuilt("type");
        };
    }

    private void trained(Settings train) {
        train.only("pos_weight", -1);
        train.only("mask_size", 2 * maskExtractor().outputSize());
        train.describes("debug");
    }
}
