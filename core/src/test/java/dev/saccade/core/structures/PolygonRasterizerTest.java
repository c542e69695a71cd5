package dev.saccade.core.structures;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.Size;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

class PolygonRasterizerTest {

    private static final int HEIGHT = 23;
    private static final int WIDTH = 31;

    @Property
    void equalsTheOriginalAlgorithm(
            @ForAll @Size(min = 6, max = 24)
                    List<@DoubleRange(min = -12, max = 44) Double> coordinates) {
        check(coordinates.stream().mapToDouble(c -> c).limit(coordinates.size() & ~1).toArray());
    }

    @Property
    void equalsTheOriginalAlgorithmForIntegers(
            @ForAll @Size(min = 6, max = 12) List<Byte> coordinates) {
        check(coordinates.stream().mapToDouble(c -> c).limit(coordinates.size() & ~1).toArray());
    }

    private static void check(double[] polygon) {
        int[] actual =
                new PolygonRasterizer(new dev.saccade.core.structures.Size(HEIGHT, WIDTH))
                        .crossings(polygon);
        assertArrayEquals(everyStep(polygon), IntStream.of(actual).sorted().toArray());
    }

    /** The original algorithm: all points of all edges, then the column changes. */
    private static int[] everyStep(double[] polygon) {
        int corners = polygon.length / 2;
        List<int[]> points = new ArrayList<>();
        for (int i = 0; i < corners; i++) {
            int next = (i + 1) % corners;
            edge(
                    (int) (5 * polygon[2 * i] + .5),
                    (int) (5 * polygon[2 * i + 1] + .5),
                    (int) (5 * polygon[2 * next] + .5),
                    (int) (5 * polygon[2 * next + 1] + .5),
                    points);
        }
        IntStream.Builder crossings = IntStream.builder();
        for (int j = 1; j < points.size(); j++) {
            int u = points.get(j)[0];
            int before = points.get(j - 1)[0];
            double column = ((u < before ? u : u - 1) + .5) / 5 - .5;
            if (u != before && column == Math.floor(column) && column >= 0 && column < WIDTH) {
                double row = (Math.min(points.get(j)[1], points.get(j - 1)[1]) + .5) / 5 - .5;
                row = Math.ceil(Math.min(Math.max(row, 0), HEIGHT));
                crossings.add((int) (column * HEIGHT + row));
            }
        }
        return crossings.build().sorted().toArray();
    }

    private static void edge(int xs, int ys, int xe, int ye, List<int[]> points) {
        int dx = Math.abs(xe - xs);
        int dy = Math.abs(ye - ys);
        boolean flat = dx >= dy;
        boolean flip = flat ? xs > xe : ys > ye;
        int x0 = flip ? xe : xs;
        int y0 = flip ? ye : ys;
        double slope =
                flat
                        ? (double) (flip ? ys - ye : ye - ys) / dx
                        : (double) (flip ? xs - xe : xe - xs) / dy;
        for (int d = 0; d <= Math.max(dx, dy); d++) {
            int t = flip ? Math.max(dx, dy) - d : d;
            points.add(
                    flat
                            ? new int[] {x0 + t, (int) (y0 + slope * t + .5)}
                            : new int[] {(int) (x0 + slope * t + .5), y0 + t});
        }
    }
}
