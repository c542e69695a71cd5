package dev.saccade.backbones;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.attention.FocalRegion;

import java.util.List;

/**
 * Settings of the region that a window of {@link Focal} attends to.
 *
 * @param focalLevels number of focal levels of each stage, including the tokens themselves
 * @param focalWindows odd number of pooled windows along a side of the region, per stage
 * @param expandSizes width of the ring of tokens around the windows of each stage
 * @param expandLayer which blocks have no ring
 * @param maskWrapped whether to mask tokens of the ring from the opposite side of the map
 */
public record FocalWindows(
        @Default("7") int windowSize,
        @Default("[2, 2, 2, 2]") List<Integer> focalLevels,
        @Default("[15, 13, 9, 7]") List<Integer> focalWindows,
        @Default("[3, 3, 3, 3]") List<Integer> expandSizes,
        @Default("all") Focal.ExpandLayer expandLayer,
        @Default("false") boolean useShift,
        @Default("false") boolean maskWrapped) {

    public FocalWindows {
        focalLevels = ImmutableList.copyOf(focalLevels);
        focalWindows = ImmutableList.copyOf(focalWindows);
        expandSizes = ImmutableList.copyOf(expandSizes);
        new Checks()
                .inRange("window_size", windowSize, 1, 128)
                .each("focal_levels", focalLevels, StagedTransformer.STAGES, 1, 8)
                .each("focal_windows", focalWindows, StagedTransformer.STAGES, 1, 151)
                .each("expand_sizes", expandSizes, StagedTransformer.STAGES, 0, windowSize)
                .throwIfAny();
        Checks.require(
                focalWindows.stream().allMatch(window -> window % 2 == 1),
                "focal_windows",
                focalWindows,
                "odd numbers");
    }

    /** Returns the attention region of a block; {@code side} is the shorter side of the map. */
    FocalRegion region(int stage, int block, int side) {
        boolean fills = side <= windowSize;
        boolean even = block % 2 == 0;
        boolean expands = expandLayer != (even ? Focal.ExpandLayer.EVEN : Focal.ExpandLayer.ODD);
        return new FocalRegion(
                Math.min(windowSize, side),
                useShift && !even && !fills ? windowSize / 2 : 0,
                expands && !fills ? expandSizes.get(stage) : 0,
                focalWindows.get(stage),
                focalLevels.get(stage) - 1,
                maskWrapped);
    }

    FocalRegion largest(int stage) {
        return new FocalRegion(
                windowSize,
                0,
                expandSizes.get(stage),
                focalWindows.get(stage),
                focalLevels.get(stage) - 1,
                maskWrapped);
    }
}
