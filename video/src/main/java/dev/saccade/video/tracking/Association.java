package dev.saccade.video.tracking;

import dev.saccade.models.Box;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Computes the overlap of tracks and detections. Objects of different classes do not overlap, and
 * empty masks are replaced by their boxes.
 */
record Association(Similarity similarity, boolean mixClasses) {

    /** A detection at its own or, for a track, at its predicted position. */
    record Candidate(Box box, Detection detection) {

        static List<Candidate> of(List<Detection> detections) {
            return detections.stream().map(each -> new Candidate(each.box(), each)).toList();
        }

        /** Returns the distance of the centers of this box and the detected box. */
        double shiftX() {
            return (box.x1() + box.x2() - detection.box().x1() - detection.box().x2()) / 2;
        }

        double shiftY() {
            return (box.y1() + box.y2() - detection.box().y1() - detection.box().y2()) / 2;
        }
    }

    /** Pairs of indices and the unpaired indices, in ascending order. */
    static final class Matches {

        /** Column of each row, or -1. */
        final int[] columns;

        final List<Integer> freeRows = new ArrayList<>();
        final List<Integer> freeColumns = new ArrayList<>();

        Matches(int[] columns, int count) {
            this.columns = columns;
            boolean[] taken = new boolean[count];
            for (int row = 0; row < columns.length; row++) {
                if (columns[row] < 0) {
                    freeRows.add(row);
                } else {
                    taken[columns[row]] = true;
                }
            }
            for (int column = 0; column < count; column++) {
                if (!taken[column]) {
                    freeColumns.add(column);
                }
            }
        }
    }

    /** Returns the overlap, 0 to 1, of each pair. */
    double[][] overlaps(List<Candidate> rows, List<Candidate> columns) {
        double[][] overlaps = new double[rows.size()][columns.size()];
        for (int row = 0; row < overlaps.length; row++) {
            for (int column = 0; column < overlaps[row].length; column++) {
                overlaps[row][column] = overlap(rows.get(row), columns.get(column));
            }
        }
        return overlaps;
    }

    /** Matches pairs with {@code 1 - overlap * weight(column) < limit}. */
    Matches match(
            List<Candidate> rows,
            List<Candidate> columns,
            ToDoubleFunction<Detection> weight,
            double limit) {
        double[][] costs = overlaps(rows, columns);
        for (double[] cost : costs) {
            for (int column = 0; column < cost.length; column++) {
                double factor = weight.applyAsDouble(columns.get(column).detection());
                cost[column] = 1 - cost[column] * factor;
            }
        }
        return new Matches(Assignment.solve(costs, limit), columns.size());
    }

    boolean isAllowed(Detection a, Detection b) {
        return mixClasses || a.object.classIndex() == b.object.classIndex();
    }

    private double overlap(Candidate first, Candidate second) {
        Detection a = first.detection();
        Detection b = second.detection();
        if (!isAllowed(a, b)) {
            return 0;
        }
        if (similarity == Similarity.BOX || a.mask().isEmpty() || b.mask().isEmpty()) {
            return iou(first.box(), second.box());
        }
        double dx = first.shiftX() - second.shiftX();
        double dy = first.shiftY() - second.shiftY();
        return a.mask().iou((int) Math.rint(dx), (int) Math.rint(dy), b.mask());
    }

    static double iou(Box a, Box b) {
        double width = Math.min(a.x2(), b.x2()) - Math.max(a.x1(), b.x1());
        double height = Math.min(a.y2(), b.y2()) - Math.max(a.y1(), b.y1());
        double shared = Math.max(width, 0) * Math.max(height, 0);
        double union = a.width() * a.height() + b.width() * b.height() - shared;
        return union > 0 ? shared / union : 0;
    }
}
