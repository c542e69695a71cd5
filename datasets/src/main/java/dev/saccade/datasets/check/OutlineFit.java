package dev.saccade.datasets.check;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation.Bbox;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** Compares outlines with the bboxes of their objects, and guesses why most differ. */
final class OutlineFit {

    private static final double MIN_IOU = 0.5;
    private static final double MOST = 0.5;
    private static final double EXPLAINED = 0.9;
    private static final int FEW = 3;

    /** Common mistakes of exporters in the coordinates of outlines. */
    private enum Mistake {
        MIRRORED_Y("y is flipped: write height - y"),
        MIRRORED_X("x is flipped: write width - x"),
        SWAPPED("x and y are swapped");

        private final String advice;

        Mistake(String advice) {
            this.advice = advice;
        }

        private Bbox undo(Bbox box, Size image) {
            double right = image.width() - box.x() - box.width();
            double bottom = image.height() - box.y() - box.height();
            return switch (this) {
                case MIRRORED_Y -> new Bbox(box.x(), bottom, box.width(), box.height());
                case MIRRORED_X -> new Bbox(right, box.y(), box.width(), box.height());
                case SWAPPED -> new Bbox(box.y(), box.x(), box.height(), box.width());
            };
        }
    }

    private final Map<Mistake, Integer> explained = new EnumMap<>(Mistake.class);
    private String first = "";
    private int outlines;
    private int empty;
    private int misfits;

    void add(Bbox box, Rle mask, Size image, String subject) {
        outlines++;
        if (mask.area() == 0) {
            empty++;
            return;
        }
        Bbox outline = bounds(mask);
        if (fits(outline, box)) {
            return;
        }
        misfits++;
        if (first.isEmpty()) {
            first = Text.format("%s: outline %s, bbox %s", subject, outline, box);
        }
        for (Mistake mistake : Mistake.values()) {
            if (fits(mistake.undo(outline, image), box)) {
                explained.merge(mistake, 1, Integer::sum);
            }
        }
    }

    static Bbox bounds(Rle mask) {
        Rle.Bounds bounds = mask.bounds();
        return new Bbox(bounds.x(), bounds.y(), bounds.width(), bounds.height());
    }

    /** Returns a fault if most outlines are wrong; if {@code hasMasks}, empty ones are wrong. */
    Optional<String> fault(boolean hasMasks) {
        if (hasMasks && empty > MOST * outlines) {
            return Optional.of(
                    Text.format(
                            "%d of %d outlines cover no pixel; expected pixel coordinates: x0, y0,"
                                    + " x1, y1, ...",
                            empty, outlines));
        }
        int bad = misfits + (hasMasks ? empty : 0);
        if (misfits < FEW || bad <= MOST * outlines) {
            return Optional.empty();
        }
        String advice =
                Arrays.stream(Mistake.values())
                        .filter(each -> explained.getOrDefault(each, 0) >= EXPLAINED * misfits)
                        .findFirst()
                        .map(each -> "in one of the two, " + each.advice)
                        .orElse("expected both in pixels of the image");
        return Optional.of(
                Text.format(
                        "%d of %d outlines do not match their bboxes; %s; the first is %s",
                        misfits, outlines, advice, first));
    }

    /**
     * Returns whether two boxes have at least the minimum IoU. Both are enlarged by a pixel on each
     * side, so that rounding to whole pixels does not matter.
     */
    private static boolean fits(Bbox one, Bbox other) {
        double width = overlap(one.x(), one.width(), other.x(), other.width());
        double height = overlap(one.y(), one.height(), other.y(), other.height());
        double common = width * height;
        return common >= MIN_IOU * (area(one) + area(other) - common);
    }

    private static double overlap(double start, double length, double other, double otherLength) {
        double end = Math.min(start + length, other + otherLength) + 1;
        return Math.max(0, end - Math.max(start, other) + 1);
    }

    private static double area(Bbox box) {
        return (box.width() + 2) * (box.height() + 2);
    }
}
