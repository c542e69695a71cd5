package dev.saccade.report;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Size;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Finds a place for each name at its box where it covers as little as possible of those before. */
final class LabelLayout {

    /** The widths of a letter and of the space beside a name, and the height, in font sizes. */
    private static final double LETTER = 0.56;

    private static final double MARGIN = 0.2;
    private static final double HEIGHT = 1.1;

    private final Size photo;
    private final double fontSize;
    private final List<Place> taken = new ArrayList<>();

    LabelLayout(Size photo, double fontSize) {
        this.photo = photo;
        this.fontSize = fontSize;
    }

    /**
     * Where a name stands.
     *
     * @param left in pixels of the photograph, like the others
     * @param top of its letters
     * @param width estimated
     * @param height of a line
     */
    record Place(double left, double top, double width, double height) {

        private double shared(Place other) {
            double across =
                    Math.min(left + width, other.left + other.width) - Math.max(left, other.left);
            double down =
                    Math.min(top + height, other.top + other.height) - Math.max(top, other.top);
            return Math.max(across, 0) * Math.max(down, 0);
        }

        private Place within(Size photo) {
            double mostLeft = Math.max(0, photo.width() - width);
            double mostTop = Math.max(0, photo.height() - height);
            return new Place(
                    Math.max(0, Math.min(left, mostLeft)),
                    Math.max(0, Math.min(top, mostTop)),
                    width,
                    height);
        }
    }

    /** Takes a place at the corners of a box, of those that are equally free the first. */
    Place place(Boxes boxes, int i, String text) {
        double width = (text.codePointCount(0, text.length()) * LETTER + 2 * MARGIN) * fontSize;
        double height = HEIGHT * fontSize;
        double left = boxes.x1(i);
        double right = boxes.x2(i) - width;
        double top = boxes.y1(i);
        double bottom = boxes.y2(i);
        Place best =
                Stream.of(
                                new Place(left, top, width, height),
                                new Place(left, top - height, width, height),
                                new Place(left, bottom - height, width, height),
                                new Place(left, bottom, width, height),
                                new Place(right, top, width, height),
                                new Place(right, top - height, width, height),
                                new Place(right, bottom - height, width, height),
                                new Place(right, bottom, width, height))
                        .map(place -> place.within(photo))
                        .min(Comparator.comparingDouble(this::covered))
                        .orElseThrow();
        taken.add(best);
        return best;
    }

    private double covered(Place place) {
        return taken.stream().mapToDouble(place::shared).sum();
    }
}
