package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.parts.Part;
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
 * The heads of Hybrid Task Cascade (Chen et al. 2019) on a pyramid, as in mmdetection: a cascade
 * whose masks are drawn in the boxes that the same stage has refined, whose mask heads pass on
 * their features, and that a semantic branch helps, which learns the class of every pixel beside
 * the objects.
 */
public final class HtcHead extends TwoStageHead {

    /**
     * The hyper-parameters of Hybrid Task Cascade.
     *
     * @param rpnHead what proposes regions
     * @param bboxRoiExtractor what pools them for the box heads
     * @param stages what looks at them, one after the other
     * @param maskRoiExtractor what pools them for the mask heads
     * @param maskHead what draws the masks, in every stage
     * @param interleaved whether mask heads learn from regions that the box head of their stage has
     *     refined, instead of from those of the box head
     * @param maskInfoFlow whether mask heads take in the features of those before
     * @param averageMasks whether the masks of all stages are averaged, as mmdetection 2 does,
     *     instead of those of the last stage being drawn alone, as mmdetection 3 does
     * @param semanticHead the semantic branch, which needs label maps in training; nothing for a
     *     head without one
     * @param semanticRoiExtractor what pools its features
     * @param semanticFusion whose features they are added to
     * @param nms how objects are selected
     * @param maskThrBinary pixels of at least this probability are in a mask
     */
    @Part("htc")
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
                                    + " 2, bbox_coder: {stds: [0.05, 0.05, 0.1, 0.1]},"
                                    + " reg_class_agnostic: true, reg_decoded_bbox: false, loss_bbox:"
                                    + " {type: smooth_l1}}, assigner: {pos_iou_thr: 0.6, neg_iou_thr:"
                                    + " 0.6, min_pos_iou: 0.6, match_low_quality: true}, loss_weight:"
                                    + " 0.5}, {bbox_head: {num_shared_convs: 0, norm: none,"
                                    + " num_shared_fcs: 2, bbox_coder: {stds: [0.033, 0.033, 0.067,"
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
                    "settings, for a hybrid task cascade draws masks; cascade_mask_rcnn need not");
        }

        @Override
        public int semanticClasses() {
            return semanticHead.map(FusedSemanticHead.Config::numClasses).orElse(0);
        }

        @Override
        public CheckpointRules checkpointRules() {
            // Heads that take nothing in have the layer in some files all the same.
            return TwoStageHead.Config.super
                    .checkpointRules()
                    .withUnexpected("roi_head.mask_head.{i}.conv_res.{*}");
        }

        @Override
        public HtcHead build(List<FeatureInfo> features, int numClasses) {
            return new HtcHead(this, features, numClasses);
        }
    }

    /** Whose features those of the semantic branch are added to. */
    public enum Fusion {
        /** The box heads'. */
        BBOX,
        /** The mask heads'. */
        MASK
    }

    private final Config config;
    private final Optional<FusedSemanticHead> semantic;

    public HtcHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(config, features, numClasses);
        this.config = config;
        int drawn = config.maskHead().orElseThrow().convOutChannels();
        Checks.require(
                !config.maskInfoFlow() || drawn == channels(),
                "mask_head.conv_out_channels",
                drawn,
                "%d, the channels of the neck, as mask_info_flow adds features of a mask head to"
                        + " those of regions",
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
                "%d, the channels of the neck, whose features these are added to",
                level.channels());
        Checks.require(
                extractor.featmapStrides().equals(List.of(level.stride())),
                "semantic_roi_extractor.featmap_strides",
                extractor.featmapStrides(),
                "[%d], the stride of semantic_head.fusion_level",
                level.stride());
        for (RoiStage.Config stage : config.stages()) {
            extractor.checkHolds("semantic_roi_extractor", maxRegions(stage), channels());
        }
        return built;
    }

    /**
     * {@inheritDoc}
     *
     * @throws SaccadeException of kind user, if there is a semantic branch, which needs label maps
     */
    @Override
    public Losses losses(FeaturePyramid features, List<ImageInfo> images, List<Instances> targets) {
        if (semantic.isPresent()) {
            throw SaccadeException.user(
                    "htc: semantic_head learns the class of every pixel, but the batch has no label"
                            + " maps; semantic_head: null is a head without it");
        }
        return super.losses(features, images, targets);
    }

    /**
     * {@inheritDoc}
     *
     * @return the losses of a cascade and, if there is a semantic branch, {@code loss_semantic_seg}
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
     * @throws IllegalStateException if there is none
     */
    public FusedSemanticHead.Output semantic(FeaturePyramid features) {
        return semantic.orElseThrow(() -> new IllegalStateException("no semantic branch"))
                .apply(features);
    }

    /** Returns the levels of the neck and, behind them, the semantic features. */
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
