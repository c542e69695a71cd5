package dev.saccade.datasets.check;

import com.google.common.collect.EnumMultiset;
import com.google.common.collect.Multiset;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation.Bbox;
import dev.saccade.datasets.AnnotationTable;

import java.util.List;
import java.util.Optional;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * Detects boxes that are not in COCO's format by checking whether they fit into their images.
 *
 * <p>Even in good data sets, some boxes exceed their images, because of rounding, imprecise clicks
 * or objects annotated beyond the border. Another format is therefore only reported in these cases.
 * For corners, centers and swapped values, at least 98 % of the boxes must also fit into their
 * images if read in that format.
 *
 * <ul>
 *   <li>fractions of the image: at least 98 % of the boxes have no number above 1
 *   <li>corners: more than 20 % of the boxes exceed the image by more than 5 %
 *   <li>centers: more than 5 % of the boxes, and at least 5, exceed the image by more than a pixel
 *   <li>x, y swapped: more than 5 % of the boxes, and at least 5, exceed the image by more than 5 %
 *   <li>unknown, such as pixels of another image size, even if no format fits: more than 50 % of
 *       the boxes, and at least 5, exceed the image by more than 5 %
 * </ul>
 */
final class BoxFormat {

    private static final double FITTING = 0.98;
    private static final double FAR = 0.05;
    private static final double MANY = 0.05;
    private static final double MANY_CORNERS = 0.2;
    private static final double MOST = 0.5;
    private static final int FEW = 5;

    /** Rounding tolerance of boxes in fractions; boxes in pixels have a tolerance of one pixel. */
    private static final double FRACTION_TOLERANCE = 0.01;

    private static final Size UNIT = new Size(1, 1);

    private enum Order {
        CENTERS("[center x, center y, width, height]"),
        COCO("[x, y, width, height]"),
        CORNERS("[x1, y1, x2, y2]"),
        SWAPPED("[y, x, height, width]"),
        SWAPPED_CORNERS("[y1, x1, y2, x2]");

        private final String numbers;

        Order(String numbers) {
            this.numbers = numbers;
        }

        private double[] corners(double a, double b, double c, double d) {
            return switch (this) {
                case CENTERS -> new double[] {a - c / 2, b - d / 2, a + c / 2, b + d / 2};
                case COCO -> new double[] {a, b, a + c, b + d};
                case CORNERS -> new double[] {a, b, c, d};
                case SWAPPED -> new double[] {b, a, b + d, a + c};
                case SWAPPED_CORNERS -> new double[] {b, a, d, c};
            };
        }

        private boolean fits(Bbox box, Size image, double tolerance) {
            double[] corner = corners(box.x(), box.y(), box.width(), box.height());
            return corner[0] < corner[2]
                    && corner[1] < corner[3]
                    && isWithin(corner, image, tolerance, tolerance);
        }
    }

    private static final List<Order> SUSPECTED =
            List.of(Order.CORNERS, Order.CENTERS, Order.SWAPPED, Order.SWAPPED_CORNERS);

    private final Multiset<Order> fitting = EnumMultiset.create(Order.class);
    private final Multiset<Order> fittingFractions = EnumMultiset.create(Order.class);
    private Optional<Bbox> first = Optional.empty();
    private int boxes;
    private int fractions;
    private int out;
    private int farOut;

    private BoxFormat() {}

    static Optional<String> fault(AnnotationTable table) {
        BoxFormat format = new BoxFormat();
        table.objects().forEach(object -> format.add(object.row().box(), object.image().size()));
        return format.fault();
    }

    private void add(Bbox box, Size image) {
        if (!(box.width() > 0 && box.height() > 0)) {
            return;
        }
        boxes++;
        if (isFraction(box)) {
            fractions++;
            addFitting(fittingFractions, box, UNIT, FRACTION_TOLERANCE);
            first = first.or(() -> Optional.of(box));
        }
        double tolerance = ObjectCheck.TOLERANCE;
        addFitting(fitting, box, image, tolerance);
        double[] corners = Order.COCO.corners(box.x(), box.y(), box.width(), box.height());
        double across = Math.max(tolerance, FAR * image.width());
        double down = Math.max(tolerance, FAR * image.height());
        out += isWithin(corners, image, tolerance, tolerance) ? 0 : 1;
        farOut += isWithin(corners, image, across, down) ? 0 : 1;
    }

    private static void addFitting(Multiset<Order> all, Bbox box, Size image, double tolerance) {
        Stream.of(Order.values())
                .filter(order -> order.fits(box, image, tolerance))
                .forEach(all::add);
    }

    private static boolean isFraction(Bbox box) {
        return DoubleStream.of(Math.abs(box.x()), Math.abs(box.y()), box.width(), box.height())
                .allMatch(number -> number <= 1 + FRACTION_TOLERANCE);
    }

    private static boolean isWithin(double[] corner, Size image, double across, double down) {
        return corner[0] >= -across
                && corner[1] >= -down
                && corner[2] <= image.width() + across
                && corner[3] <= image.height() + down;
    }

    private Optional<String> fault() {
        if (boxes > 0 && fractions >= FITTING * boxes) {
            return Optional.of(
                    Text.format(
                            "the bboxes are fractions of their images, such as %s, apparently %s;"
                                    + " expected [x, y, width, height] in pixels: multiply by the"
                                    + " width and height of the image",
                            text(first.orElseThrow()), fractionOrder()));
        }
        for (Order order : SUSPECTED) {
            boolean isLikely =
                    switch (order) {
                        case CORNERS -> farOut > MANY_CORNERS * boxes;
                        case CENTERS -> areMany(out);
                        default -> areMany(farOut);
                    };
            if (isLikely && fitting.count(order) >= FITTING * boxes) {
                return Optional.of(
                        Text.format(
                                "the bboxes appear to be %s; expected [x, y, width, height]",
                                order.numbers));
            }
        }
        return farOut > MOST * boxes && farOut >= FEW
                ? Optional.of(
                        Text.format(
                                "%d of %d bboxes exceed their images by more than 5 %%; expected"
                                        + " [x, y, width, height] in pixels of the image at its"
                                        + " original size",
                                farOut, boxes))
                : Optional.empty();
    }

    private boolean areMany(int count) {
        return count > MANY * boxes && count >= FEW;
    }

    private String fractionOrder() {
        Order order =
                Stream.of(Order.values())
                        .filter(o -> fittingFractions.count(o) >= FITTING * fractions)
                        .findFirst()
                        .orElse(Order.COCO);
        return order == Order.CENTERS ? "YOLO's " + order.numbers : order.numbers;
    }

    private static String text(Bbox box) {
        return Text.format("[%.4g, %.4g, %.4g, %.4g]", box.x(), box.y(), box.width(), box.height());
    }
}
