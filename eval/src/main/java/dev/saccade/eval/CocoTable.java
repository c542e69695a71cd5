package dev.saccade.eval;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableList;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Metrics as aligned text; a number without an object to find is {@code n/a}. */
public final class CocoTable {

    private final List<List<String>> rows;

    private CocoTable(List<List<String>> rows) {
        this.rows = rows;
    }

    /** Returns the 12 numbers of {@link CocoMetrics#summary}, one a line. */
    public static CocoTable summary(CocoMetrics metrics) {
        ImmutableList.Builder<List<String>> rows = ImmutableList.builder();
        rows.add(List.of("metric", "IoU", "area", "detections", "value"));
        for (SummaryRow row : metrics.summary()) {
            rows.add(
                    List.of(
                            row.name(),
                            row.iou(),
                            row.area().name().toLowerCase(Locale.ROOT),
                            String.valueOf(row.maxDetections()),
                            number(row.value())));
        }
        return new CocoTable(rows.build());
    }

    /** Returns the average precision of each class, one a line. */
    public static CocoTable perClass(CocoMetrics metrics) {
        ImmutableList.Builder<List<String>> rows = ImmutableList.builder();
        rows.add(List.of("class", "objects", "AP", "AP50", "AP75", "APs", "APm", "APl"));
        for (ClassMetrics row : metrics.perClass()) {
            rows.add(
                    List.of(
                            row.name(),
                            String.valueOf(row.objects()),
                            number(row.ap()),
                            number(row.ap50()),
                            number(row.ap75()),
                            number(row.apSmall()),
                            number(row.apMedium()),
                            number(row.apLarge())));
        }
        return new CocoTable(rows.build());
    }

    private static String number(double value) {
        return value < 0 ? "n/a" : String.format(Locale.ROOT, "%.3f", value);
    }

    /** Returns the cells, the first row being the headings. */
    public List<List<String>> rows() {
        return rows;
    }

    /** Returns the table with its first column to the left and the others to the right. */
    @Override
    public String toString() {
        int[] widths =
                IntStream.range(0, rows.get(0).size())
                        .map(
                                c ->
                                        rows.stream()
                                                .mapToInt(row -> row.get(c).length())
                                                .max()
                                                .orElse(0))
                        .toArray();
        return rows.stream()
                .map(
                        row ->
                                IntStream.range(0, widths.length)
                                        .mapToObj(c -> aligned(row.get(c), widths[c], c == 0))
                                        .collect(Collectors.joining("  ")))
                .collect(Collectors.joining(System.lineSeparator()));
    }

    private static String aligned(String cell, int width, boolean left) {
        return left ? Strings.padEnd(cell, width, ' ') : Strings.padStart(cell, width, ' ');
    }
}
