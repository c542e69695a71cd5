package dev.saccade.eval;

import com.google.common.base.Strings;

import dev.saccade.core.Printable;
import dev.saccade.core.Text;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Metrics as aligned text; undefined metrics are {@code n/a}. */
public final class MetricTable {

    private final List<List<String>> rows;

    private MetricTable(List<List<String>> rows) {
        this.rows = rows;
    }

    /** Creates a table of text; the first column has the row names. */
    public MetricTable(List<String> heads, List<List<String>> rows) {
        this(Stream.concat(Stream.of(heads), rows.stream()).toList());
    }

    /** Returns a table with one metric per row. */
    public static MetricTable of(Map<String, Double> values) {
        return new MetricTable(List.of("metric"), values.keySet().stream().map(List::of).toList())
                .with("value", values.values().stream());
    }

    public MetricTable with(String head, Stream<Double> column) {
        return withText(head, column.map(MetricTable::number));
    }

    public MetricTable withText(String head, Stream<String> column) {
        Iterator<String> cells = Stream.concat(Stream.of(head), column).iterator();
        return new MetricTable(
                rows.stream()
                        .map(row -> Stream.concat(row.stream(), Stream.of(cells.next())).toList())
                        .toList());
    }

    private static String number(double value) {
        return value < 0 ? "n/a" : Text.format("%.3f", value);
    }

    /** Returns the cells; the first row has the headings. */
    public List<List<String>> rows() {
        return rows;
    }

    /** Returns aligned text; the first column is left-aligned, the others right-aligned. */
    @Override
    public String toString() {
        List<List<String>> shown =
                rows.stream().map(row -> row.stream().map(Printable::line).toList()).toList();
        int[] widths = new int[shown.get(0).size()];
        for (List<String> row : shown) {
            Arrays.setAll(widths, c -> Math.max(widths[c], row.get(c).length()));
        }
        return shown.stream()
                .map(row -> line(row, widths))
                .collect(Collectors.joining(System.lineSeparator()));
    }

    private static String line(List<String> row, int... widths) {
        return IntStream.range(0, widths.length)
                .mapToObj(c -> aligned(row.get(c), widths[c], c == 0))
                .collect(Collectors.joining("  "));
    }

    private static String aligned(String cell, int width, boolean left) {
        return left ? Strings.padEnd(cell, width, ' ') : Strings.padStart(cell, width, ' ');
    }
}
