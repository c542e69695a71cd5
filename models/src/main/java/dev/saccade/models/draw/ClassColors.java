package dev.saccade.models.draw;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.datasets.ade20k.Ade20kClasses;

import java.util.List;
import java.util.stream.IntStream;

/** The colors in which classes are drawn, those of the first classes the farthest apart. */
public final class ClassColors {

    private static final ImmutableIntArray COLORS = Palette.colors();

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
        return COLORS.get(label % COLORS.length());
    }
}
