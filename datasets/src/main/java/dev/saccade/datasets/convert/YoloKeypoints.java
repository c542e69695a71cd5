package dev.saccade.datasets.convert;

import static java.util.stream.Collectors.toList;

import dev.saccade.core.Text;

import java.awt.geom.Line2D;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Recognizes boxes with keypoints that would be read as polygons, as the data set lacks {@code
 * kpt_shape}. Such lines have the same length and begin with a box in the image; other lines may be
 * plain boxes. Of three numbers a point, the third is a visibility, 0 to 2. Of two, the points are
 * in the box, or 0 for unlabeled ones; polygons of one length may look so, too, but do not cross
 * themselves.
 */
final class YoloKeypoints {

    private static final double TOLERANCE = 0.01;
    private static final int BOX = 4;

    /** Some annotators place keypoints beside the box. */
    private static final double LIKELY = 0.9;

    private static final double CROSSED = 0.1;

    /** Fewer lines or visibilities may look so by chance. */
    private static final int FEW = 4;

    /** A box and one point look like a triangle, which never crosses itself. */
    private static final int ONE_POINT = BOX + 2;

    private YoloKeypoints() {}

    /** Returns an error if the polygons of a data set are boxes with keypoints. */
    static Optional<String> suspected(List<Drawing> drawings) {
        Map<Integer, List<double[]>> byLength =
                drawings.stream()
                        .flatMap(drawing -> drawing.objects().stream())
                        .map(object -> object.outlines().get(0))
                        .filter(Outline.Ring.class::isInstance)
                        .map(outline -> ((Outline.Ring) outline).points())
                        .collect(
                                Collectors.groupingBy(line -> line.length, TreeMap::new, toList()));
        boolean isOnly = byLength.size() == 1;
        return byLength.values().stream()
                .flatMap(lines -> suspected(lines, isOnly).stream())
                .findFirst();
    }

    private static Optional<String> suspected(List<double[]> lines, boolean isOnly) {
        int length = lines.get(0).length;
        boolean areMany = isOnly || lines.size() >= FEW;
        if (lines.size() * (length - BOX) / 3 >= FEW
                && lines.stream().allMatch(YoloKeypoints::hasVisibilities)) {
            return Optional.of(message(length, 3));
        }
        boolean areInBoxes = areMany && ratio(lines, YoloKeypoints::hasPointsInBox) >= LIKELY;
        boolean isLikely =
                areInBoxes
                        && (length == ONE_POINT
                                ? lines.size() >= FEW
                                : ratio(lines, YoloKeypoints::crossesItself) >= CROSSED);
        return isLikely ? Optional.of(message(length, 2)) : Optional.empty();
    }

    private static String message(int length, int dimensions) {
        return Text.format(
                "its lines look like boxes with keypoints, not like polygons; add kpt_shape:"
                        + " [%d, %d] to data.yaml, and the boxes are read",
                (length - BOX) / dimensions, dimensions);
    }

    private static double ratio(List<double[]> lines, Predicate<double[]> test) {
        return (double) lines.stream().filter(test).count() / lines.size();
    }

    private static boolean isBox(double[] line) {
        return isInside(line[0] - line[2] / 2, 0, 1)
                && isInside(line[0] + line[2] / 2, 0, 1)
                && isInside(line[1] - line[3] / 2, 0, 1)
                && isInside(line[1] + line[3] / 2, 0, 1);
    }

    private static boolean isInside(double value, double from, double to) {
        return value >= from - TOLERANCE && value <= to + TOLERANCE;
    }

    private static boolean hasVisibilities(double[] line) {
        if (!isBox(line) || (line.length - BOX) % 3 != 0) {
            return false;
        }
        for (int i = BOX + 2; i < line.length; i += 3) {
            if (line[i] != 0 && line[i] != 1 && line[i] != 2) {
                return false;
            }
        }
        return true;
    }

    private static boolean hasPointsInBox(double[] line) {
        boolean areInside = isBox(line);
        for (int i = BOX; i < line.length; i += 2) {
            boolean isUnlabeled = line[i] == 0 && line[i + 1] == 0;
            boolean isInBox =
                    isInside(line[i], line[0] - line[2] / 2, line[0] + line[2] / 2)
                            && isInside(line[i + 1], line[1] - line[3] / 2, line[1] + line[3] / 2);
            areInside &= isUnlabeled || isInBox;
        }
        return areInside;
    }

    /** Returns whether two sides that are not neighbors touch, or the polygon has no area. */
    private static boolean crossesItself(double[] points) {
        int corners = points.length / 2;
        double twice = 0;
        for (int a = 0; a < corners; a++) {
            int b = (a + 1) % corners;
            twice += points[2 * a] * points[2 * b + 1] - points[2 * b] * points[2 * a + 1];
            for (int c = a + 2; c < corners; c++) {
                int d = (c + 1) % corners;
                if (d != a
                        && Line2D.linesIntersect(
                                points[2 * a],
                                points[2 * a + 1],
                                points[2 * b],
                                points[2 * b + 1],
                                points[2 * c],
                                points[2 * c + 1],
                                points[2 * d],
                                points[2 * d + 1])) {
                    return true;
                }
            }
        }
        return twice == 0;
    }
}
