package dev.saccade.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.report.Histogram.Bar;
import dev.saccade.report.LineChart.Series;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

class ChartWritersTest {

    private static List<String> texts(Markup markup, String kind) {
        return Pattern.compile("<text class=\"" + kind + "\"[^>]*>([^<]*)</text>")
                .matcher(markup.toString())
                .results()
                .map(match -> match.group(1))
                .toList();
    }

    @Test
    void percentMapsOmitZeros() {
        List<List<Long>> pixels =
                List.of(List.of(9_000_000_000L, 1_000_000_000L), List.of(3L, 997L));
        Markup out = new Markup();
        new HeatMap("pixels", List.of("sky", "road"), pixels, true).write(out);
        assertEquals(List.of("90", "100"), texts(out, "on dark"));
        assertEquals(List.of("10"), texts(out, "on"));
        assertEquals(
                1,
                out.toString().split("sky predicted as road: 1000000000 of 10000000000", 2).length
                        - 1);
    }

    @Test
    void countMapsShowCounts() {
        List<List<Long>> counts = List.of(List.of(3L, 12_345L), List.of(0L, 0L));
        Markup out = new Markup();
        new HeatMap("objects", List.of("leaf", "key"), counts, false).write(out);
        assertEquals(List.of("3"), texts(out, "on"));
        assertEquals(List.of("12k"), texts(out, "on dark"));
    }

    @Test
    void showsCountsForManyClasses() {
        int classes = 200;
        List<String> names = IntStream.range(0, classes).mapToObj(i -> "class " + i).toList();
        List<List<Long>> counts =
                IntStream.range(0, classes)
                        .mapToObj(row -> row(classes, row == 7 ? 123L : 0L))
                        .toList();
        Markup out = new Markup();
        new HeatMap("objects", names, counts, false).write(out);
        assertEquals(List.of("123"), texts(out, "on dark"));
    }

    private static List<Long> row(int length, long first) {
        return IntStream.range(0, length).mapToObj(i -> i == 0 ? first : 0L).toList();
    }

    @Test
    void shortensWideNames() {
        assertEquals(4 * Svg.width("a"), Svg.width("車輛"));
        assertEquals("abc", Svg.fitted("abc", Svg.width("abc")));
        assertEquals("ab…", Svg.fitted("abcd", Svg.width("abc")));
        assertEquals("車…", Svg.fitted("車輛輪", Svg.width("abc")));
        assertEquals("🚗…", Svg.fitted("🚗🚗🚗", Svg.width("abcd")));
    }

    @Test
    void spikeDoesNotAffectOtherWindows() {
        double[] steps = IntStream.range(0, 400).asDoubleStream().toArray();
        double[] loss = new double[400];
        Arrays.fill(loss, 0.5);
        loss[3] = 1e30;
        Markup out = new Markup();
        LineChart chart = new LineChart("Loss", "step", List.of(Series.of("a", steps, loss)));
        chart.smoothed().write(out);
        assertTrue(out.toString().contains("<b>0.500</b>"), out.toString());
    }

    @Test
    void singlePointIsADot() {
        double[] steps = {1, 2, 3};
        double[] lone = {Double.NaN, 0.5, Double.NaN};
        Markup out = new Markup();
        List<Series> series =
                List.of(Series.of("line", steps, steps), Series.of("dot", steps, lone));
        new LineChart("AP", "step", series).write(out);
        assertEquals(1, out.toString().split("class=\"curve lone\"", -1).length - 1);
        assertEquals(1, out.toString().split("class=\"curve\"", -1).length - 1);
    }

    @Test
    void rotatesLongBarNames() {
        List<Bar> few = List.of(new Bar("leaf", 3), new Bar("key", 4));
        List<Bar> many =
                IntStream.range(0, 11).mapToObj(i -> new Bar("bicyclist " + i, i)).toList();
        Markup out = new Markup();
        new Histogram("few", "", few).write(out);
        new Histogram("many", "", many).write(out);
        assertEquals(List.of("leaf", "key"), texts(out, "x"));
        assertEquals(many.stream().map(Bar::name).toList(), texts(out, "down"));
    }
}
