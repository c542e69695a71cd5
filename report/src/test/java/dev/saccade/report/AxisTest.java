package dev.saccade.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.report.LineChart.Range;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;

import org.junit.jupiter.api.Test;

import java.util.List;

class AxisTest {

    @Test
    void ticksAreRoundNumbersWithTheDecimalsTheyNeed() {
        assertEquals(List.of("0.0", "0.2", "0.4", "0.6", "0.8", "1.0"), labels(0, 1));
        assertEquals(List.of("0", "500", "1,000", "1,500", "2,000"), labels(0, 2000));
        assertEquals(List.of("0.000", "0.002", "0.004", "0.006", "0.008"), labels(0, 0.008));
        assertEquals(List.of("0", "2e-05", "4e-05", "6e-05", "8e-05", "1e-04"), labels(0, 1e-4));
        assertEquals(List.of("7"), labels(7, 7));
    }

    @Test
    void upToTickReachesTheNextRoundNumber() {
        Axis axis = Axis.of(new Range(0, 1.31), 100, 0, 5).upToTick();
        assertEquals(1.5, axis.range().high(), 1e-12);
        assertEquals(0, axis.at(1.5), 1e-9);
        assertEquals(100, axis.at(0), 1e-9);
    }

    @Property
    void ticksStayWithinTheRangeAndAreFew(
            @ForAll @DoubleRange(min = -1e6, max = 1e6) double low,
            @ForAll @DoubleRange(min = 0.01, max = 1e6) double width) {
        Axis axis = Axis.of(new Range(low, low + width), 0, 100, 5);
        List<Double> ticks = axis.ticks();
        assertTrue(ticks.size() >= 1 && ticks.size() <= 6, "" + ticks);
        for (double tick : ticks) {
            assertTrue(axis.at(tick) >= -0.1 && axis.at(tick) <= 100.1, "" + ticks);
        }
    }

    private static List<String> labels(double low, double high) {
        Axis axis = Axis.of(new Range(low, high), 0, 100, 5);
        return axis.ticks().stream().map(axis::label).toList();
    }
}
