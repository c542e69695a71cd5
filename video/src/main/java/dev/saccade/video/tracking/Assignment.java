package dev.saccade.video.tracking;

import java.util.Arrays;

/**
 * Optimal assignment of rows to columns by shortest augmenting paths (Jonker and Volgenant, 1987).
 *
 * <p>The result is deterministic. Rows are assigned in ascending order; if several columns are
 * equally good during a search, the column with the smallest index is visited first.
 */
final class Assignment {

    private Assignment() {}

    /**
     * Returns the column of each row, or -1, with the minimum sum of costs; all rows or all columns
     * are assigned.
     *
     * @param cost [rows, columns], finite
     */
    static int[] solve(double[][] cost) {
        int rows = cost.length;
        int columns = rows == 0 ? 0 : cost[0].length;
        if (rows <= columns) {
            return columns == 0 ? new int[0] : rowsToColumns(cost, rows, columns);
        }
        int[] result = new int[rows];
        Arrays.fill(result, -1);
        if (columns > 0) {
            int[] rowOfColumn = rowsToColumns(transposed(cost, columns), columns, rows);
            for (int column = 0; column < columns; column++) {
                result[rowOfColumn[column]] = column;
            }
        }
        return result;
    }

    /**
     * Returns the column of each row, or -1, with the minimum sum of costs, if an unassigned row
     * and column together cost {@code limit}. Assigned pairs cost less than {@code limit}.
     */
    static int[] solve(double[][] cost, double limit) {
        double[][] gain = new double[cost.length][];
        for (int row = 0; row < cost.length; row++) {
            gain[row] = Arrays.stream(cost[row]).map(each -> Math.min(each - limit, 0)).toArray();
        }
        int[] result = solve(gain);
        for (int row = 0; row < result.length; row++) {
            if (result[row] >= 0 && gain[row][result[row]] == 0) {
                result[row] = -1;
            }
        }
        return result;
    }

    private static double[][] transposed(double[][] cost, int columns) {
        double[][] result = new double[columns][cost.length];
        for (int row = 0; row < cost.length; row++) {
            for (int column = 0; column < columns; column++) {
                result[column][row] = cost[row][column];
            }
        }
        return result;
    }

    /** Assigns every row; requires {@code 0 < rows <= columns}. Column 0 is a virtual start. */
    private static int[] rowsToColumns(double[][] cost, int rows, int columns) {
        double[] rowPrice = new double[rows + 1];
        double[] columnPrice = new double[columns + 1];
        int[] rowOf = new int[columns + 1];
        int[] previous = new int[columns + 1];
        for (int row = 1; row <= rows; row++) {
            rowOf[0] = row;
            int column = 0;
            double[] distance = new double[columns + 1];
            Arrays.fill(distance, Double.POSITIVE_INFINITY);
            boolean[] visited = new boolean[columns + 1];
            do {
                visited[column] = true;
                int current = rowOf[column];
                int nearest = 0;
                double least = Double.POSITIVE_INFINITY;
                for (int j = 1; j <= columns; j++) {
                    if (visited[j]) {
                        continue;
                    }
                    double reduced = cost[current - 1][j - 1] - rowPrice[current] - columnPrice[j];
                    if (reduced < distance[j]) {
                        distance[j] = reduced;
                        previous[j] = column;
                    }
                    if (distance[j] < least) {
                        least = distance[j];
                        nearest = j;
                    }
                }
                for (int j = 0; j <= columns; j++) {
                    if (visited[j]) {
                        rowPrice[rowOf[j]] += least;
                        columnPrice[j] -= least;
                    } else {
                        distance[j] -= least;
                    }
                }
                column = nearest;
            } while (rowOf[column] != 0);
            while (column != 0) {
                rowOf[column] = rowOf[previous[column]];
                column = previous[column];
            }
        }
        int[] result = new int[rows];
        for (int column = 1; column <= columns; column++) {
            if (rowOf[column] > 0) {
                result[rowOf[column] - 1] = column - 1;
            }
        }
        return result;
    }
}
