package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.heads.segmentation.FusedSemanticHead;

import java.util.List;
import java.util.Optional;

/**
 * Semantic features, pooled for the regions whose own features they are added to.
 *
 * @param head what makes them of a pyramid
 * @param extractor what pools them
 */
record SemanticBranch(FusedSemanticHead head, RoiExtractor extractor) {

    private static final Script ADDED =
            Script.compile(
                    "(pooled: Tensor, semantic: Tensor) -> Tensor",
                    """
                    size = [torch.size(pooled, 2), torch.size(pooled, 3)]
                    return torch.add(pooled, torch.adaptive_avg_pool2d(semantic, size))
                    """);

    /** Checks that the features fit those of the regions, which come from a pyramid. */
    static void checkFits(
            FusedSemanticHead.Config head, RoiExtractor extractor, List<FeatureInfo> features) {
        FeatureInfo level = features.get(head.fusionLevel());
        Checks.require(
                head.convOutChannels() == level.channels(),
                "semantic_head.conv_out_channels",
                head.convOutChannels(),
                "%d, the channels of the neck, whose features these are added to",
                level.channels());
        Checks.require(
                extractor.featmapStrides().equals(List.of(level.stride())),
                "semantic_roi_extractor.featmap_strides",
                extractor.featmapStrides(),
                "[%d], the stride of semantic_head.fusion_level",
                level.stride());
    }

    /** Returns what regions are pooled from in inference. */
    RoiFeatures look(FeaturePyramid pyramid) {
        NDArray semantic = Scope.array(() -> head.forward(pyramid).features());
        return new RoiFeatures(pyramid, Optional.of(semantic));
    }

    /**
     * Returns features of regions with the semantic ones, averaged to their size, added.
     *
     * @param pooled {@code [R, C, S, S]}
     */
    NDArray addTo(NDArray pooled, RoiFeatures features, Rois rois) {
        return Scope.array(
                () -> {
                    FeaturePyramid map =
                            new FeaturePyramid(List.of(features.semantic().orElseThrow()));
                    return ADDED.run(pooled, extractor.pool(map, rois));
                });
    }
}
