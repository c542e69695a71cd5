package dev.saccade.models.draw;

import com.google.common.primitives.ImmutableIntArray;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Colors that are far apart for the eye: some chosen ones, then always the color that is farthest
 * from all before it in Oklab (Ottosson, 2020), as in Glasbey et al., Colour Displays for
 * Categorical Images, 2007. Very dark, very light and gray ones are left to the photographs.
 */
final class Palette {

    private static final int[] CHOSEN = {
        0x38A0FF, 0xFF7A1A, 0x1FB85A, 0xE8386D, 0x9B5CF0, 0xF2C811, 0x14C4C4, 0x9C5A2C
    };

    private static final int SIZE = 256;

    /** Distance of the values of a channel among which colors are looked for. */
    private static final int STEP = 15;

    private static final double DARKEST = 0.35;
    private static final double LIGHTEST = 0.92;
    private static final double LEAST_CHROMA = 0.04;

    private Palette() {}

    /**
     * A color in Oklab, in which equal distances look about equal.
     *
     * @param rgb {@code 0xRRGGBB}
     * @param lightness from 0 to 1
     * @param a from green to red, about -0.4 to 0.4
     * @param b from blue to yellow, likewise
     */
    record Color(int rgb, double lightness, double a, double b) {

        static Color of(int rgb) {
            double red = linear(rgb >> 16);
            double green = linear(rgb >> 8 & 0xFF);
            double blue = linear(rgb & 0xFF);
            double l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
            double m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
            double s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
            return new Color(
                    rgb,
                    0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
                    1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
                    0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s);
        }

        /** Undoes the gamma of sRGB. */
        private static double linear(int channel) {
            double value = channel / 255.0;
            return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
        }

        double distance(Color other) {
            return Math.sqrt(
                    (lightness - other.lightness) * (lightness - other.lightness)
                            + (a - other.a) * (a - other.a)
                            + (b - other.b) * (b - other.b));
        }

        private boolean isUsable() {
            return lightness >= DARKEST
                    && lightness <= LIGHTEST
                    && Math.hypot(a, b) >= LEAST_CHROMA;
        }
    }

    /**
     * Returns 256 colors, {@code 0xRRGGBB}; however many are used, the first are farthest apart.
     */
    static ImmutableIntArray colors() {
        List<Color> candidates = candidates();
        double[] nearest = new double[candidates.size()];
        Arrays.fill(nearest, Double.MAX_VALUE);
        ImmutableIntArray.Builder colors = ImmutableIntArray.builder(SIZE);
        for (int i = 0; i < SIZE; i++) {
            Color next =
                    i < CHOSEN.length ? Color.of(CHOSEN[i]) : candidates.get(farthest(nearest));
            colors.add(next.rgb);
            for (int c = 0; c < nearest.length; c++) {
                nearest[c] = Math.min(nearest[c], candidates.get(c).distance(next));
            }
        }
        return colors.build();
    }

    private static List<Color> candidates() {
        List<Color> candidates = new ArrayList<>();
        for (int red = 0; red < SIZE; red += STEP) {
            for (int green = 0; green < SIZE; green += STEP) {
                for (int blue = 0; blue < SIZE; blue += STEP) {
                    Color color = Color.of(red << 16 | green << 8 | blue);
                    if (color.isUsable()) {
                        candidates.add(color);
                    }
                }
            }
        }
        return candidates;
    }

    private static int farthest(double[] nearest) {
        int best = 0;
        for (int c = 1; c < nearest.length; c++) {
            best = nearest[c] > nearest[best] ? c : best;
        }
        return best;
    }
}
