package dev.saccade.models.draw;

import com.google.common.collect.ImmutableList;

import dev.saccade.datasets.ResourceLines;
import dev.saccade.datasets.ade20k.Ade20kClasses;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Distinct class colors. After eight hand-picked colors, each color is as far as possible from all
 * previous colors in Oklab (Ottosson, 2020), as in Glasbey et al., Colour Displays for Categorical
 * Images, 2007.
 */
public final class ClassColors {

    private static final ImmutableList<Integer> COLORS =
            ResourceLines.read(ClassColors.class, "colors.txt").stream()
                    .map(hex -> Integer.valueOf(hex, 16))
                    .collect(ImmutableList.toImmutableList());

    private ClassColors() {}

    /** Returns a color per class, {@code 0xRRGGBB}; ADE20K's classes use ADE20K's palette. */
    public static List<Integer> of(List<String> classes) {
        return classes.equals(Ade20kClasses.NAMES)
                ? Ade20kClasses.COLORS
                : IntStream.range(0, classes.size())
                        .mapToObj(ClassColors::rgb)
                        .collect(ImmutableList.toImmutableList());
    }

    /** Returns the color of a class as {@code 0xRRGGBB}; colors repeat after 256 classes. */
    public static int rgb(int label) {
        return COLORS.get(label % COLORS.size());
    }
}
