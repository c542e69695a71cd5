package dev.saccade.models.draw;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Size;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Places each name at a corner of its box, hiding as little of objects and names as possible. */
public final class LabelLayout {

    /** Cost of hiding a name, relative to hiding a whole object. */
    private static final double NAME_OVER_OBJECT = 4;

    /** Maximum fraction of a name that may lie on other names. */
    private static final double MAX_OVERLAP = 0.25;

    private final Size image;
    private final Boxes objects;
    private final List<Place> placed = new ArrayList<>();

    /** Creates an empty layout; names avoid hiding {@code objects}. */
    public LabelLayout(Size image, Boxes objects) {
        this.image = image;
        this.objects = objects;
    }

    /** Position and size of a name in pixels. */
    public record Place(double left, double top, double width, double height) {

        private double shared(double x1, double y1, double x2, double y2) {
            double across = Math.min(left + width, x2) - Math.max(left, x1);
            double down = Math.min(top + height, y2) - Math.max(top, y1);
            return Math.max(across, 0) * Math.max(down, 0);
        }

        private double shared(Place other) {
            return shared(
                    other.left, other.top, other.left + other.width, other.top + other.height);
        }

        private Place clip(Size image) {
            double maxLeft = Math.max(0, image.width() - width);
            double maxTop = Math.max(0, image.height() - height);
            return new Place(
                    Math.max(0, Math.min(left, maxLeft)),
                    Math.max(0, Math.min(top, maxTop)),
                    width,
                    height);
        }
    }

    /**
     * Places a name at the best corner of box {@code i}: above, inside or below, and left before
     * right on ties. Returns empty if the name would overlap other names by more than a quarter.
     */
    public Optional<Place> place(Boxes boxes, int i, double width, double height) {
        double left = boxes.x1(i);
        double right = boxes.x2(i) - width;
        double top = boxes.y1(i);
        double bottom = boxes.y2(i);
        Place best =
                Stream.of(left, right)
                        .flatMap(
                                x ->
                                        Stream.of(top - height, top, bottom, bottom - height)
                                                .map(y -> new Place(x, y, width, height)))
                        .map(place -> place.clip(image))
                        .min(Comparator.comparingDouble(this::cost))
                        .orElseThrow();
        if (overlap(best) > MAX_OVERLAP) {
            return Optional.empty();
        }
        placed.add(best);
        return Optional.of(best);
    }

    private double cost(Place place) {
        double hiddenFractions = 0;
        for (int i = 0; i < objects.size(); i++) {
            double shared =
                    place.shared(objects.x1(i), objects.y1(i), objects.x2(i), objects.y2(i));
            hiddenFractions += shared > 0 ? shared / objects.area(i) : 0;
        }
        return NAME_OVER_OBJECT * overlap(place) + hiddenFractions;
    }

    private double overlap(Place place) {
        return placed.stream().mapToDouble(place::shared).sum() / (place.width * place.height);
    }
}
