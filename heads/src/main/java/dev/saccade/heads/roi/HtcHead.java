package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.heads.anchor.RpnHead;
import dev.saccade.heads.box.MulticlassNms;
import dev.saccade.heads.segmentation.FusedSemanticHead;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Hybrid Task Cascade (Chen et al. 2019), as in mmdetection: a cascade with interleaved mask heads,
 * mask information flow, and a semantic segmentation branch.
 */
public final class HtcHead extends TwoStageHead {

    /**
     * Settings of Hybrid Task Cascade.
     *
     * @param interleaved whether mask heads are trained on regions refined by the box head of their
     *     stage
     * @param maskInfoFlow whether mask heads use the features of previous mask heads
     * @param averageMasks whether to average masks over all stages (mmdetection 2) or to use the
     *     last stage (mmdetection 3)
     * @param semanticHead semantic branch, which is trained on label maps; empty for none
     * @param semanticFusion heads that use the semantic features
     */
    @Component("htc")
    public record Config(
            @Default(
                            "{loss_bbox: {type: smooth_l1, beta: 0.1111111111111111},"
                                    + " allowed_border: 0, train_proposals: {max_per_img: 2000}}")
                    RpnHead.Config rpnHead,
            RoiExtractor bboxRoiExtractor,
            @Default(
                            "[{bbox_head: {num_shared_convs: 0, norm: none, num_shared_fcs: 2,"
                                    + " reg_class_agnostic: true, reg_decoded_bbox: false, loss_bbox:"
                                    + " {type: smooth_l1}}, assigner: {match_low_quality: true}},"
                                    + " {bbox_head: {num_shared_convs: 0, norm: none, num_shared_fcs:"
                                    + " 2, bbox_coder: {target_stds: [0.05, 0.05, 0.1, 0.1]},"
                                    + " reg_class_agnostic: true, reg_decoded_bbox: false, loss_bbox:"
                                    + " {type: smooth_l1}}, assigner: {pos_iou_thr: 0.6, neg_iou_thr:"
                                    + " 0.6, min_pos_iou: 0.6, match_low_quality: true}, loss_weight:"
                                    + " 0.5}, {bbox_head: {num_shared_convs: 0, norm: none,"
                                    + " num_shared_fcs: 2, bbox_coder: {target_stds: [0.033, 0.033, 0.067,"
                                    + " 0.067]}, reg_class_agnostic: true, reg_decoded_bbox: false,"
                                    + " loss_bbox: {type: smooth_l1}}, assigner: {pos_iou_thr: 0.7,"
                                    + " neg_iou_thr: 0.7, min_pos_iou: 0.7, match_low_quality: true},"
                                    + " loss_weight: 0.25}]")
                    List<RoiStage.Config> stages,
            @Default("{output_size: 14}") RoiExtractor maskRoiExtractor,
            @Default("{}") Optional<MaskHead.Config> maskHead,
            @Default("true") boolean interleaved,
            @Default("true") boolean maskInfoFlow,
            @Default("false") boolean averageMasks,
            @Default("{}") Optional<FusedSemanticHead.Config> semanticHead,
            @Default("{output_size: 14, featmap_strides: [8]}") RoiExtractor semanticRoiExtractor,
            @Default("[bbox, mask]") List<Fusion> semanticFusion,
            @Default("{type: nms, score_thr: 0.001}") MulticlassNms nms,
            @Default("0.5") double maskThrBinary)
            implements TwoStageHead.Config {

        public Config {
            stages = ImmutableList.copyOf(stages);
            semanticFusion = ImmutableList.copyOf(semanticFusion);
            new Checks()
                    .size("stages", stages, 1, 30)
                    .size("semantic_fusion", semanticFusion, 1, Fusion.values().length)
                    .above("mask_thr_binary", maskThrBinary, 0, 1)
                    .throwIfAny();
            Checks.require(
                    maskHead.isPresent(),
                    "mask_head",
                    "nothing",
                    "a mask head; for boxes only, use cascade_mask_rcnn without mask_head");
        }

        @Override
        public int semanticClasses() {
            return semanticHead.map(FusedSemanticHead.Config::numClasses).orElse(0);
        }

        @Override
        public CheckpointRules checkpointRules() {
            // Some files contain conv_res even for heads without information flow.
            return TwoStageHead.Config.super
                    .checkpointRules()
                    .withUnexpected("roi_head.mask_head.{i}.conv_res.{*}");
        }

        @Override
        public Optional<MaskBranch> masks() {
            return maskHead.map(head -> new MaskBranch(maskRoiExtractor, head, maskThrBinary));
        }

        @Override
        public HtcHead build(List<FeatureInfo> features, int numClasses) {
            return new HtcHead(this, features, numClasses);
        }
    }

    /** Heads that use the semantic features. */
    public enum Fusion {
        BBOX,
        MASK
    }

    private final Config config;
    private final Optional<FusedSemanticHead> semantic;

    public HtcHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(config, features, numClasses);
        this.config = config;
        int maskChannels = config.maskHead().orElseThrow().convOutChannels();
        Checks.require(
                !config.maskInfoFlow() || maskChannels == channels(),
                "mask_head.conv_out_channels",
                maskChannels,
                "%d, as in the neck, because mask_info_flow adds both feature maps",
                channels());
        semantic = config.semanticHead().map(head -> semantic(head, features));
        addStages(config.stages(), config.maskInfoFlow());
    }

    private FusedSemanticHead semantic(
            FusedSemanticHead.Config semantic, List<FeatureInfo> features) {
        FusedSemanticHead built =
                add("roi_head.semantic_head", new FusedSemanticHead(semantic, features));
        FeatureInfo level = features.get(semantic.fusionLevel());
        RoiExtractor extractor = config.semanticRoiExtractor();
        Checks.require(
                semantic.convOutChannels() == level.channels(),
                "semantic_head.conv_out_channels",
                semantic.convOutChannels(),
                "%d, as in the neck, because both feature maps are added",
                level.channels());
        Checks.require(
                extractor.featmapStrides().equals(List.of(level.stride())),
                "semantic_roi_extractor.featmap_strides",
                extractor.featmapStrides(),
                "[%d], the stride of semantic_head.fusion_level",
                level.stride());
        for (RoiStage.Config stage : config.stages()) {
            extractor.checkMemory("semantic_roi_extractor", maxRegions(stage), channels());
        }
        return built;
    }

    /**
     * {@inheritDoc}
     *
     * @throws SaccadeException of kind user if a semantic branch exists, as it requires label maps
     */
    @Override
    public Losses losses(FeaturePyramid features, List<ImageInfo> images, List<Instances> targets) {
        if (semantic.isPresent()) {
            throw SaccadeException.user(
                    "htc: semantic_head is trained on label maps, but the batch has none; add"
                            + " label_maps to the training data or set semantic_head: null");
        }
        return super.losses(features, images, targets);
    }

    /**
     * {@inheritDoc}
     *
     * @return the losses of a cascade and, with a semantic branch, {@code loss_semantic_seg}
     */
    @Override
    public Losses losses(
            FeaturePyramid features,
            List<ImageInfo> images,
            List<Instances> targets,
            NDArray labels) {
        if (semantic.isEmpty()) {
            return super.losses(features, images, targets);
        }
        FusedSemanticHead.Output output = semantic.get().apply(features);
        Losses regions = losses(features, withSemantic(features, output), images, targets);
        return new Losses(
                ImmutableMap.<String, NDArray>builder()
                        .put("loss_semantic_seg", semantic.get().loss(output.logits(), labels))
                        .putAll(regions.terms())
                        .buildOrThrow(),
                regions.metrics());
    }

    /**
     * Returns the output of the semantic branch.
     *
     * @throws IllegalStateException without a semantic branch
     */
    public FusedSemanticHead.Output semantic(FeaturePyramid features) {
        return semantic.orElseThrow(() -> new IllegalStateException("no semantic branch"))
                .apply(features);
    }

    private static FeaturePyramid withSemantic(
            FeaturePyramid features, FusedSemanticHead.Output output) {
        List<NDArray> levels = new ArrayList<>(features.levels());
        levels.add(output.features());
        return new FeaturePyramid(levels);
    }

    @Override
    FeaturePyramid roiFeatures(FeaturePyramid features) {
        return semantic.map(branch -> withSemantic(features, branch.apply(features)))
                .orElse(features);
    }

    @Override
    NDArray poolForBoxes(FeaturePyramid features, Rois rois) {
        return fused(Fusion.BBOX, super.poolForBoxes(features, rois), features, rois);
    }

    @Override
    NDArray poolForMasks(FeaturePyramid features, Rois rois) {
        return fused(Fusion.MASK, super.poolForMasks(features, rois), features, rois);
    }

    private NDArray fused(Fusion branch, NDArray pooled, FeaturePyramid features, Rois rois) {
        if (semantic.isEmpty() || !config.semanticFusion().contains(branch)) {
            return pooled;
        }
        NDArray map = features.get(features.size() - 1);
        FeaturePyramid last = new FeaturePyramid(List.of(map));
        NDArray pooledSemantic = config.semanticRoiExtractor().pool(last, rois);
        int size = Math.toIntExact(pooled.getShape().get(2));
        return pooled.add(Functional.adaptiveAvgPool2d(pooledSemantic, size));
    }

    @Override
    boolean averagesMasks() {
        return config.averageMasks();
    }

    @Override
    boolean isInterleaved() {
        return config.interleaved();
    }
}
