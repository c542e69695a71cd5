package dev.saccade.datasets.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

class BoxFormatTest {

    private static final Size IMAGE = new Size(480, 640);

    /** Objects of all sizes all over an image, also at its borders: x, y, width and height. */
    private static List<double[]> objects(int count) {
        SplittableRandom random = new SplittableRandom(5);
        List<double[]> objects = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            double left = random.nextDouble(-60, 620);
            double top = random.nextDouble(-60, 460);
            double right = Math.min(left + random.nextDouble(20, 200), 640);
            double bottom = Math.min(top + random.nextDouble(20, 200), 480);
            double x = Math.max(left, 0);
            double y = Math.max(top, 0);
            objects.add(new double[] {x, y, right - x, bottom - y});
        }
        objects.removeIf(box -> box[2] < 2 || box[3] < 2);
        return objects;
    }

    private static Optional<String> fault(List<double[]> boxes, UnaryOperator<double[]> written) {
        AnnotationTable.Builder table = new AnnotationTable.Builder();
        table.addImage(1, "a.jpg", IMAGE);
        for (double[] box : boxes) {
            double[] b = written.apply(box);
            table.addAnnotation(1, 0, Annotation.of(1, 0, b[0], b[1], b[2], b[3]));
        }
        return BoxFormat.fault(table.build());
    }

    private static double[] fractions(double[] box) {
        double width = IMAGE.width();
        double height = IMAGE.height();
        return new double[] {box[0] / width, box[1] / height, box[2] / width, box[3] / height};
    }

    private static double[] corners(double[] b) {
        return new double[] {b[0], b[1], b[0] + b[2], b[1] + b[3]};
    }

    private static double[] centers(double[] b) {
        return new double[] {b[0] + b[2] / 2, b[1] + b[3] / 2, b[2], b[3]};
    }

    private static double[] swapped(double[] b) {
        return new double[] {b[1], b[0], b[3], b[2]};
    }

    private static Arguments way(String expected, UnaryOperator<double[]> written) {
        return Arguments.of(expected, written);
    }

    static Stream<Arguments> otherWays() {
        return Stream.of(
                way("fractions of their images, such as [", box -> fractions(box)),
                way(
                        "apparently YOLO's [center x, center y, width, height]",
                        box -> fractions(centers(box))),
                way("apparently [x, y, width, height]", box -> fractions(box)),
                way("apparently [x1, y1, x2, y2]", box -> fractions(corners(box))),
                way("appear to be [x1, y1, x2, y2]; expected [x, y,", box -> corners(box)),
                way("appear to be [center x, center y, width, height]", box -> centers(box)),
                way("appear to be [y, x, height, width]", box -> swapped(box)),
                way("appear to be [y1, x1, y2, x2]", box -> swapped(corners(box))),
                way(
                        "bboxes exceed their images by more than 5 %",
                        b -> new double[] {3 * b[0], 3 * b[1], 3 * b[2], 3 * b[3]}));
    }

    @ParameterizedTest
    @MethodSource("otherWays")
    void detectsOtherBoxFormats(String expected, UnaryOperator<double[]> written) {
        String fault = fault(objects(300), written).orElse("nothing");
        assertTrue(fault.contains(expected), fault);
    }

    /** Returns boxes as they are drawn by some labelers. */
    private static Arguments legitimate(
            String name, int count, Function<double[], double[]> drawn) {
        return Arguments.of(name, objects(count).stream().map(drawn).toList());
    }

    static Stream<Arguments> goodLabels() {
        return Stream.of(
                legitimate("at the borders", 300, box -> box),
                legitimate("one", 1, box -> box),
                legitimate("whole images", 20, box -> new double[] {0, 0, 640, 480}),
                legitimate("whole images, roughly", 20, b -> new double[] {3, 4, 650, 490}),
                legitimate("centered", 20, b -> new double[] {200, 150, 240, 180}),
                Arguments.of(
                        "a slip in one of four",
                        List.of(
                                new double[] {100, 90, 50, 60},
                                new double[] {300, 20, 80, 60},
                                new double[] {250, 300, 100, 120},
                                new double[] {560, 300, 120, 120})),
                legitimate(
                        "also behind the border",
                        300,
                        b -> new double[] {b[0] - b[2] / 3, b[1] - b[3] / 3, 2 * b[2], 2 * b[3]}),
                legitimate("tiny", 300, b -> new double[] {b[0], b[1], b[2] / 100, b[3] / 100}));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("goodLabels")
    void acceptsValidLabels(String name, List<double[]> boxes) {
        assertEquals(Optional.empty(), fault(boxes, box -> box), name);
    }

    @Test
    void toleratesFewBoxesInAnotherFormat() {
        List<double[]> boxes = objects(300);
        boxes.add(new double[] {.5, .5, .1, .1});
        boxes.add(new double[] {600, 400, 620, 420});
        assertEquals(Optional.empty(), fault(boxes, box -> box));
    }
}
