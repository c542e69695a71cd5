package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.vision.RoiAlign;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.Size;

import java.util.List;
import java.util.Map;

/**
 * Pools regions from the level of a pyramid that fits their size (Lin et al. 2017), as
 * mmdetection's {@code SingleRoIExtractor}.
 *
 * @param outputSize height and width of a pooled region
 * @param samplingRatio points along each axis of a bin; 0 for as many as the bin has cells
 * @param aligned whether cells are centered at half-integers, as they should be
 * @param featmapStrides strides of the levels used, the first of the pyramid
 * @param finestScale regions of less than twice this size in pixels are pooled from the first level
 */
public record RoiExtractor(
        @Default("7") int outputSize,
        @Default("0") int samplingRatio,
        @Default("true") boolean aligned,
        @Default("[4, 8, 16, 32]") List<Integer> featmapStrides,
        @Default("56") double finestScale) {

    /** Two gibibytes of floats; masks of LVIS take half of it. */
    private static final long MOST_VALUES = 1 << 29;

    /** How often the finest scale is doubled; a box whose size is no number has not been. */
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

    /** Checks that a pyramid has the levels. */
    void checkFits(List<FeatureInfo> features) {
        List<Integer> strides = features.stream().map(FeatureInfo::stride).toList();
        Checks.require(
                strides.size() >= featmapStrides.size()
                        && strides.subList(0, featmapStrides.size()).equals(featmapStrides),
                "featmap_strides",
                featmapStrides,
                "the first of the neck's %s",
                strides);
    }

    /**
     * Refuses regions that would fill the memory when they are pooled.
     *
     * @param key of this extractor
     * @param regions of an image
     * @param channels of a region, at most
     */
    void checkHolds(String key, int regions, int channels) {
        long values = (long) regions * channels * outputSize * outputSize;
        Checks.require(
                values <= MOST_VALUES,
                key + ".output_size",
                outputSize,
                "at most %d numbers for all regions of an image; %d regions with %d channels have"
                        + " %d",
                MOST_VALUES,
                regions,
                channels,
                values);
    }

    /**
     * Pools regions.
     *
     * @return {@code [R, C, outputSize, outputSize]} in the order of the regions
     */
    public NDArray pool(FeaturePyramid features, Rois rois) {
        RoiAlign align = new RoiAlign(new Size(outputSize, outputSize), samplingRatio, aligned);
        return align.pool(features, featmapStrides, rois, levels(rois.boxes()));
    }

    /**
     * Returns the level of each box: one up for every doubling of its size.
     *
     * @param boxes {@code [R, 4]} corners
     * @return {@code [R]} int64
     */
    public NDArray levels(NDArray boxes) {
        return LEVELS.with(Map.of("finest_scale", finestScale, "last", featmapStrides.size() - 1))
                .run(boxes);
    }
}
