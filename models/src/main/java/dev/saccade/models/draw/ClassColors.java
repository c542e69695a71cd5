package dev.saccade.models.draw;

import com.google.common.collect.ImmutableList;

import dev.saccade.datasets.ResourceLines;
import dev.saccade.datasets.ade20k.Ade20kClasses;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The colors in which classes are drawn. Each color of the table is as far as possible from all
 * colors before it in Oklab (Ottosson, 2020), after eight that were chosen by hand, as in Glasbey
 * et al., Colour Displays for Categorical Images, 2007. The table has no very dark, very light or
 * gray colors.
 */
public final class ClassColors {

    private static final ImmutableList<Integer> COLORS =
            ResourceLines.read(ClassColors.class, "colors.txt").stream()
                    .map(hex -> Integer.valueOf(hex, 16))
                    .collect(ImmutableList.toImmutableList());

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

    /** Returns the color of a class as {@code 0xRRGGBB}; they repeat after 256 classes. */
    public static int rgb(int label) {
        return COLORS.get(label % COLORS.size());
    }
}
