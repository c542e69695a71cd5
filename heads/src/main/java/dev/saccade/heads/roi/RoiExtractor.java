package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.vision.RoiAlign;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.Size;

import java.util.List;
import java.util.Map;

/**
 * Pools each region with RoI Align from the level that fits its size (Lin et al. 2017), like
 * mmdetection's {@code SingleRoIExtractor}.
 *
 * @param samplingRatio sampling points per bin and axis; 0 for adaptive
 * @param aligned whether to shift by half a pixel, as in RoIAlign v2
 * @param featmapStrides strides of the first levels of the pyramid
 * @param finestScale regions smaller than twice this size in pixels use the first level
 */
public record RoiExtractor(
        @Default("7") int outputSize,
        @Default("0") int samplingRatio,
        @Default("true") boolean aligned,
        @Default("[4, 8, 16, 32]") List<Integer> featmapStrides,
        @Default("56") double finestScale) {

    /** Limit of 2 GiB of floats; LVIS masks need 1 GiB. */
    private static final long MAX_VALUES = 1 << 29;

    /** Computes level indices, {@code log2(size / finest_scale)}; NaN sizes use the first level. */
    private static final ScriptTemplate LEVELS =
            ScriptTemplate.of(
                    "(boxes: Tensor) -> Tensor",
                    """
                    x1, y1, x2, y2 = torch.unbind(boxes, 1)
                    size = torch.sqrt(torch.mul(torch.sub(x2, x1), torch.sub(y2, y1)))
                    scale = torch.add(torch.div(size, {finest_scale}), 1e-06)
                    doublings = torch.clamp(torch.floor(torch.log2(scale)), 0, {last})
                    return torch.to(torch.nan_to_num(doublings, 0.), 4)
                    """);

    public RoiExtractor {
        featmapStrides = ImmutableList.copyOf(featmapStrides);
        new Checks()
                .inRange("output_size", outputSize, 1, 64)
                .inRange("sampling_ratio", samplingRatio, 0, 20)
                .size("featmap_strides", featmapStrides, 1, 16)
                .each("featmap_strides", featmapStrides, 1, 1 << 20)
                .above("finest_scale", finestScale, 0, 1e6)
                .throwIfAny();
    }

    void checkFits(List<FeatureInfo> features) {
        List<Integer> strides = features.stream().map(FeatureInfo::stride).toList();
        Checks.require(
                strides.size() >= featmapStrides.size()
                        && strides.subList(0, featmapStrides.size()).equals(featmapStrides),
                "featmap_strides",
                featmapStrides,
                "the first of the neck's strides %s",
                strides);
    }

    /** Rejects settings for which the pooled regions of an image do not fit into memory. */
    void checkMemory(String key, int regions, int channels) {
        long values = (long) regions * channels * outputSize * outputSize;
        Checks.require(
                values <= MAX_VALUES,
                key + ".output_size",
                outputSize,
                "at most %d values for all regions of an image; %d regions with %d channels need"
                        + " %d",
                MAX_VALUES,
                regions,
                channels,
                values);
    }

    /** Returns pooled regions {@code [R, C, outputSize, outputSize]}. */
    public NDArray pool(FeaturePyramid features, Rois rois) {
        RoiAlign align = new RoiAlign(new Size(outputSize, outputSize), samplingRatio, aligned);
        return align.pool(features, featmapStrides, rois, levels(rois.boxes()));
    }

    /**
     * Returns the level index of {@code [R, 4]} boxes, {@code [R]} int64; the index increases by 1
     * when the size doubles.
     */
    public NDArray levels(NDArray boxes) {
        return LEVELS.with(Map.of("finest_scale", finestScale, "last", featmapStrides.size() - 1))
                .run(boxes);
    }
}
