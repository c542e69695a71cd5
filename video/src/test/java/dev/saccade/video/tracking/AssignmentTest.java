package dev.saccade.video.tracking;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

class AssignmentTest {

    /** Returns the minimum sum over all assignments of every row, by trying them. */
    private static double best(double[][] cost, int row, int taken, double unassigned) {
        if (row == cost.length) {
            return 0;
        }
        double best =
                Double.isNaN(unassigned)
                        ? Double.POSITIVE_INFINITY
                        : unassigned + best(cost, row + 1, taken, unassigned);
        for (int column = 0; column < cost[row].length; column++) {
            if ((taken >> column & 1) == 0) {
                double rest = best(cost, row + 1, taken | 1 << column, unassigned);
                best = Math.min(best, cost[row][column] + rest);
            }
        }
        return best;
    }

    private static double[][] random(SplittableRandom random, int rows, int columns) {
        double[][] cost = new double[rows][columns];
        for (double[] row : cost) {
            for (int column = 0; column < columns; column++) {
                // Coarse costs have ties.
                row[column] = random.nextInt(-4, 9) / 4.0;
            }
        }
        return cost;
    }

    @Test
    void sumIsMinimal() {
        SplittableRandom random = new SplittableRandom(1);
        for (int trial = 0; trial < 200; trial++) {
            int rows = random.nextInt(1, 6);
            double[][] cost = random(random, rows, random.nextInt(rows, 7));
            int[] columns = Assignment.solve(cost);
            double sum = 0;
            int taken = 0;
            for (int row = 0; row < rows; row++) {
                sum += cost[row][columns[row]];
                assertEquals(0, taken >> columns[row] & 1);
                taken |= 1 << columns[row];
            }
            assertEquals(best(cost, 0, 0, Double.NaN), sum, 1e-9);
        }
    }

    @Test
    void pairsAboveTheLimitStayUnassigned() {
        SplittableRandom random = new SplittableRandom(2);
        double limit = 0.8;
        for (int trial = 0; trial < 200; trial++) {
            double[][] cost = random(random, random.nextInt(1, 6), random.nextInt(1, 6));
            int[] columns = Assignment.solve(cost, limit);
            double sum = 0;
            for (int row = 0; row < cost.length; row++) {
                sum += columns[row] < 0 ? limit : cost[row][columns[row]];
                assertEquals(true, columns[row] < 0 || cost[row][columns[row]] < limit);
            }
            assertEquals(best(cost, 0, 0, limit), sum, 1e-9);
        }
    }

    @Test
    void moreRowsThanColumnsLeaveRowsUnassigned() {
        assertArrayEquals(new int[] {-1, 0, -1}, Assignment.solve(new double[][] {{3}, {1}, {2}}));
        assertArrayEquals(new int[] {-1, -1}, Assignment.solve(new double[][] {{}, {}}));
        assertEquals(0, Assignment.solve(new double[0][]).length);
    }

    @Test
    void tiesPreferTheFirstColumn() {
        assertArrayEquals(
                new int[] {0, 1}, Assignment.solve(new double[][] {{1, 1, 1}, {1, 1, 1}}));
    }
}
