package dev.saccade.datasets.convert.formats;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import dev.saccade.core.Text;
import dev.saccade.datasets.convert.Outline;
import dev.saccade.datasets.convert.ParsedImage;

import java.awt.geom.Line2D;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Detects boxes with keypoints that would be read as polygons because {@code kpt_shape} is missing.
 * Such lines have the same length and start with a box in the image. With three values per point,
 * the third is a visibility, 0 to 2. With two, the points are in the box, or 0 if unlabeled;
 * polygons of equal length may match too, but do not intersect themselves.
 */
final class YoloKeypoints {

    private static final double TOLERANCE = 0.01;
    private static final int BOX = 4;

    /** Minimum fraction of lines with all points in the box; some keypoints are outside. */
    private static final double MIN_IN_BOX = 0.9;

    private static final double MIN_CROSSED = 0.1;

    /** Fewer lines or visibilities may match by chance. */
    private static final int FEW = 4;

    private YoloKeypoints() {}

    static Optional<String> suspected(List<ParsedImage> images) {
        Map<Integer, List<double[]>> byLength =
                images.stream()
                        .flatMap(image -> image.objects().stream())
                        .map(object -> ((Outline.Fractions) object.outlines().get(0)).shape())
                        .filter(Outline.Ring.class::isInstance)
                        .map(Outline::points)
                        .collect(groupingBy(line -> line.length, TreeMap::new, toList()));
        return byLength.values().stream()
                .flatMap(lines -> suspected(lines, byLength.size() == 1).stream())
                .findFirst();
    }

    private static Optional<String> suspected(List<double[]> lines, boolean isOnly) {
        int length = lines.get(0).length;
        int dimensions = 0;
        if (lines.size() * (length - BOX) / 3 >= FEW
                && lines.stream().allMatch(YoloKeypoints::hasVisibilities)) {
            dimensions = 3;
        } else if ((isOnly || lines.size() >= FEW)
                && ratio(lines, YoloKeypoints::hasPointsInBox) >= MIN_IN_BOX) {
            // A box and one point look like a triangle, which never intersects itself.
            boolean isLikely =
                    length == BOX + 2
                            ? lines.size() >= FEW
                            : ratio(lines, YoloKeypoints::crossesItself) >= MIN_CROSSED;
            dimensions = isLikely ? 2 : 0;
        }
        return dimensions == 0
                ? Optional.empty()
                : Optional.of(
                        Text.format(
                                "lines look like boxes with keypoints, not polygons; add kpt_shape:"
                                        + " [%d, %d] to data.yaml to read the boxes",
                                (length - BOX) / dimensions, dimensions));
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

    /** Returns whether two non-adjacent sides touch, or the polygon has no area. */
    private static boolean crossesItself(double[] points) {
        int corners = points.length / 2;
        Line2D[] sides = new Line2D[corners];
        double twice = 0;
        for (int i = 0; i < corners; i++) {
            int a = 2 * i;
            int b = 2 * ((i + 1) % corners);
            sides[i] = new Line2D.Double(points[a], points[a + 1], points[b], points[b + 1]);
            twice += points[a] * points[b + 1] - points[b] * points[a + 1];
            for (int j = i == corners - 1 ? 1 : 0; j < i - 1; j++) {
                if (sides[i].intersectsLine(sides[j])) {
                    return true;
                }
            }
        }
        return twice == 0;
    }
}
