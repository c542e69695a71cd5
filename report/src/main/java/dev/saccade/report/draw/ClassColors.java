package dev.saccade.report.draw;

import com.google.common.collect.ImmutableList;

import dev.saccade.datasets.ade20k.Ade20kClasses;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The colors in which classes are drawn; neighboring labels are far apart on the circle of hues.
 */
public final class ClassColors {

    private static final double GOLDEN_ANGLE = 137.508;
    private static final double FIRST_HUE = 205;

    private ClassColors() {}

    /**
     * Returns the colors in which label maps are drawn, as {@code 0xRRGGBB}: those of ADE20K for
     * its 150 classes, {@link #rgb} for others.
     */
    public static List<Integer> of(List<String> classes) {
        return classes.equals(Ade20kClasses.NAMES)
                ? Ade20kClasses.COLORS
                : IntStream.range(0, classes.size())
                        .mapToObj(ClassColors::rgb)
                        .collect(ImmutableList.toImmutableList());
    }

    /** Returns the color of a class as {@code 0xRRGGBB}. */
    public static int rgb(int label) {
        double hue = (FIRST_HUE + label * GOLDEN_ANGLE) % 360 / 60;
        int rgb = 0;
        for (int channel = 2; channel >= 0; channel--) {
            double distance = (hue + 1 + 2 * channel) % 6;
            double strength = Math.max(0, Math.min(1, Math.min(distance, 4 - distance)));
            rgb = rgb << 8 | (int) Math.rint(255 * (1 - 0.78 * strength));
        }
        return rgb;
    }
}
