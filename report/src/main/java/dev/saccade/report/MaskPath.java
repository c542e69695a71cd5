package dev.saccade.report;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.structures.Contours;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

/** A mask as an SVG path (fill rule {@code evenodd}) in units of {@code scale} image pixels. */
record MaskPath(String steps, double scale) {

    private static final double MAX_EDGE = 800;

    /** Traces a mask; an empty mask gives an empty path. */
    static MaskPath trace(Rle mask) {
        Size size = mask.size();
        double scale = Math.max(1, Math.max(size.height(), size.width()) / MAX_EDGE);
        Size drawn =
                new Size(
                        (int) Math.ceil(size.height() / scale),
                        (int) Math.ceil(size.width() / scale));
        StringBuilder steps = new StringBuilder();
        for (ImmutableIntArray contour : Contours.trace(scale > 1 ? mask.resize(drawn) : mask)) {
            steps.append('M').append(contour.get(0)).append(' ').append(contour.get(1));
            for (int i = 2; i < contour.length(); i += 2) {
                boolean down = i % 4 == 2;
                int axis = down ? 1 : 0;
                steps.append(down ? 'v' : 'h');
                steps.append(contour.get(i + axis) - contour.get(i - 2 + axis));
            }
            steps.append('z');
        }
        return new MaskPath(steps.toString(), scale);
    }
}
