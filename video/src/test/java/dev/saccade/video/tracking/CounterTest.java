package dev.saccade.video.tracking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

class CounterTest {

    /** Returns an object of 20 x 20 pixels with this center. */
    private static List<TrackedObject> at(int id, int label, double x, double y) {
        return List.of(new TrackedObject(id, TrackerTest.object(label, 0.9, x - 10, y - 10, 20)));
    }

    @Test
    void countsBothDirectionsByClass() {
        LineCounter line = LineCounter.of(0, 100, 200, 100);
        for (double y : new double[] {80, 95, 105, 120}) {
            line.update(at(1, 0, 50, y));
            line.update(at(2, 1, 150, 200 - y));
        }
        line.update(at(1, 0, 50, 80));
        assertEquals(Map.of("class0", 1, "class1", 1), line.in());
        assertEquals(Map.of("class0", 1), line.out());
    }

    @Test
    void jitterIsNotCounted() {
        LineCounter line = LineCounter.of(0, 100, 200, 100);
        line.update(at(1, 0, 50, 90));
        for (int frame = 0; frame < 20; frame++) {
            line.update(at(1, 0, 50, 100 + (frame % 2 == 0 ? 1.9 : -1.9)));
        }
        assertEquals(Map.of(), line.out());
        line.update(at(1, 0, 50, 103));
        assertEquals(Map.of("class0", 1), line.out());
        assertEquals(Map.of(), line.in());
    }

    @Test
    void pathsBesideTheLineAreNotCounted() {
        LineCounter line = LineCounter.of(0, 100, 200, 100);
        line.update(at(1, 0, 230, 80));
        line.update(at(1, 0, 230, 120));
        assertEquals(Map.of(), line.out());
        line.update(at(2, 0, 230, 80));
        line.update(at(2, 0, 150, 120));
        assertEquals(Map.of("class0", 1), line.out());
    }

    @Test
    void zonesCountObjectsOnce() {
        // The zone has a notch at the top.
        ZoneCounter zone = ZoneCounter.of(0, 0, 50, 60, 100, 0, 100, 100, 0, 100);
        zone.update(at(1, 0, 50, 80));
        assertEquals(Map.of("class0", 1), zone.inside());
        zone.update(at(1, 0, 50, 30));
        assertEquals(Map.of(), zone.inside());
        zone.update(at(1, 0, 20, 80));
        zone.update(at(2, 1, 80, 80));
        assertEquals(Map.of("class1", 1), zone.inside());
        assertEquals(Map.of("class0", 1, "class1", 1), zone.total());
    }

    @Test
    void degenerateShapesAreRejected() {
        for (double[] ends :
                new double[][] {
                    {1, 2, 1, 2},
                    {1, 2, 3},
                    {1, 2, 3, Double.NaN},
                    {0, 0, 0.5, 0},
                    {},
                    {0, 0.5, 1, 0.5},
                    {0, 0, 9, 1e300}
                }) {
            String message =
                    assertThrows(SaccadeException.class, () -> LineCounter.of(ends)).getMessage();
            assertTrue(message.contains("expected x1,y1,x2,y2"), message);
        }
        for (double[] corners :
                new double[][] {
                    {0, 0, 10, 10, 20, 20},
                    {0, 0, 10, 10},
                    {0, 0, 10, 0, 5},
                    {},
                    {0, 0, 10, 0, 5, Double.POSITIVE_INFINITY},
                    {0, 0, 1, 0, 1, 1, 0, 1}
                }) {
            String message =
                    assertThrows(SaccadeException.class, () -> ZoneCounter.of(corners))
                            .getMessage();
            assertTrue(message.contains("at least three corners"), message);
        }
    }

    @Test
    void zonesWithCrossingEdgesAreRejected() {
        for (double[] corners :
                new double[][] {
                    {0, 0, 100, 100, 100, 0, 0, 100},
                    {0, 0, 200, 150, 200, 0, 0, 100},
                    {50, 0, 80, 100, 0, 40, 100, 40, 20, 100}
                }) {
            String message =
                    assertThrows(SaccadeException.class, () -> ZoneCounter.of(corners))
                            .getMessage();
            assertTrue(message.contains("list the corners in order"), message);
        }
        // Corners that touch an edge, and concave zones, are allowed.
        ZoneCounter.of(0, 0, 100, 0, 50, 50, 100, 100, 0, 100);
        ZoneCounter.of(0, 0, 50, 0, 100, 0, 100, 100, 0, 100);
    }

    /** JSON has the classes in the same order in every run. */
    @Test
    void countsAreSortedByClass() {
        ZoneCounter zone = ZoneCounter.everywhere();
        LineCounter line = LineCounter.of(0, 50, 1000, 50);
        List<String> classes = new ArrayList<>();
        for (int step = 0; step < 2; step++) {
            List<TrackedObject> objects = new ArrayList<>();
            for (int i = 9; i >= 0; i--) {
                objects.addAll(at(i + 1, i, 20 * i, step == 0 ? 80 : 20));
            }
            zone.update(objects);
            line.update(objects);
        }
        for (int i = 0; i < 10; i++) {
            classes.add("class" + i);
        }
        for (Map<String, Integer> counts : List.of(zone.inside(), zone.total(), line.in())) {
            assertEquals(classes, List.copyOf(counts.keySet()));
        }
    }

    @Test
    void writesLinesOfMotChallenge() {
        TrackedObject tracked = at(7, 2, 50, 60).get(0);
        assertEquals("1,7,40.00,50.00,20.00,20.00,0.9000,3,-1", MotFormat.line(0, tracked));
    }
}
