package dev.saccade.eval;

import com.google.common.base.Strings;

import dev.saccade.core.Printable;
import dev.saccade.eval.ConfusionMatrix.Confusion;
import dev.saccade.eval.ErrorBreakdown.Row;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Metrics as aligned text; a number without an object to find is {@code n/a}. */
public final class MetricTable {

    private final List<List<String>> rows;

    private MetricTable(List<List<String>> rows) {
        this.rows = rows;
    }

    private MetricTable(List<String> heads, List<List<String>> rows) {
        this(Stream.concat(Stream.of(heads), rows.stream()).toList());
    }

    /**
     * Returns the 12 numbers of {@link CocoMetrics#summary}, one a line.
     *
     * @param metrics of boxes, and of masks if there are any; a column each
     */
    public static MetricTable summary(List<CocoMetrics> metrics) {
        List<List<String>> rows = new ArrayList<>();
        for (SummaryRow row : metrics.get(0).summary()) {
            rows.add(
                    List.of(
                            row.name(),
                            row.iou(),
                            row.area().name().toLowerCase(Locale.ROOT),
                            String.valueOf(row.maxDetections())));
        }
        MetricTable table = new MetricTable(List.of("metric", "IoU", "area", "detections"), rows);
        for (CocoMetrics measured : metrics) {
            String head = measured.parameters().iouType().name().toLowerCase(Locale.ROOT);
            table = table.with(head, measured.summary().stream().map(SummaryRow::value));
        }
        return table;
    }

    /**
     * Returns the average precision of each class, one a line.
     *
     * @param metrics of boxes, and of masks if there are any
     */
    public static MetricTable perClass(List<CocoMetrics> metrics) {
        List<List<String>> rows = new ArrayList<>();
        for (ClassMetrics row : metrics.get(0).perClass()) {
            rows.add(List.of(row.name(), String.valueOf(row.objects())));
        }
        MetricTable table = new MetricTable(List.of("class", "objects"), rows);
        for (CocoMetrics measured : metrics) {
            List<ClassMetrics> classes = measured.perClass();
            String prefix = measured.parameters().iouType().prefix();
            table =
                    table.with(prefix + "AP", classes.stream().map(ClassMetrics::ap))
                            .with(prefix + "AP50", classes.stream().map(ClassMetrics::ap50))
                            .with(prefix + "AP75", classes.stream().map(ClassMetrics::ap75))
                            .with(prefix + "APs", classes.stream().map(ClassMetrics::apSmall))
                            .with(prefix + "APm", classes.stream().map(ClassMetrics::apMedium))
                            .with(prefix + "APl", classes.stream().map(ClassMetrics::apLarge));
        }
        return table;
    }

    /** Returns the means of label maps, one a line. */
    public static MetricTable summary(SegmentationMetrics metrics) {
        Map<String, Double> values = metrics.values();
        return new MetricTable(List.of("metric"), values.keySet().stream().map(List::of).toList())
                .with("value", values.values().stream());
    }

    /** Returns how well the pixels of each class are found, one a line. */
    public static MetricTable perClass(SegmentationMetrics metrics) {
        List<ClassOverlap> classes = metrics.perClass();
        return new MetricTable(
                        List.of("class", "pixels"),
                        classes.stream().map(c -> List.of(c.name(), "" + c.pixels())).toList())
                .with("IoU", classes.stream().map(ClassOverlap::iou))
                .with("Acc", classes.stream().map(ClassOverlap::accuracy))
                .with("Dice", classes.stream().map(ClassOverlap::dice))
                .with("boundary_IoU", classes.stream().map(ClassOverlap::boundaryIou));
    }

    /**
     * Returns the average precision at each IoU threshold, one a line, for objects of all sizes and
     * of each size.
     *
     * @param metrics of boxes, and of masks if there are any
     */
    public static MetricTable perThreshold(List<CocoMetrics> metrics) {
        List<List<String>> rows =
                CocoParameters.IOU_THRESHOLDS.stream()
                        .mapToObj(iou -> List.of(String.format(Locale.ROOT, "%.2f", iou)))
                        .toList();
        MetricTable table = new MetricTable(List.of("IoU"), rows);
        for (CocoMetrics measured : metrics) {
            for (AreaRange area : AreaRange.values()) {
                String head = measured.parameters().iouType().prefix() + "AP" + area.suffix();
                table =
                        table.with(
                                head,
                                IntStream.range(0, rows.size())
                                        .mapToObj(t -> measured.ap(t, area)));
            }
        }
        return table;
    }

    /**
     * Returns the errors of each kind and what mending them would gain, one kind a line.
     *
     * @param breakdowns of boxes, and of masks if there are any
     */
    public static MetricTable errors(List<ErrorBreakdown> breakdowns) {
        List<List<String>> rows =
                Arrays.stream(DetectionError.values())
                        .map(error -> List.of(error.name().toLowerCase(Locale.ROOT)))
                        .toList();
        MetricTable table = new MetricTable(List.of("error"), rows);
        for (ErrorBreakdown breakdown : breakdowns) {
            String prefix = breakdown.iouType().prefix();
            List<Row> errors = breakdown.rows();
            table =
                    table.withText(prefix + "count", errors.stream().map(row -> "" + row.count()))
                            .with("+" + prefix + "AP50", errors.stream().map(Row::gain));
        }
        return table;
    }

    /** Returns the classes that are most often taken for each other, one confusion a line. */
    public static MetricTable confusions(ConfusionMatrix matrix, int most) {
        List<Confusion> confusions = matrix.confusions().stream().limit(most).toList();
        return new MetricTable(
                        List.of("object"),
                        confusions.stream().map(confusion -> List.of(confusion.object())).toList())
                .withText("taken for", confusions.stream().map(Confusion::detection))
                .withText("count", confusions.stream().map(confusion -> "" + confusion.count()));
    }

    /** Returns the classes whose pixels are most often mistaken, one confusion a line. */
    public static MetricTable confusions(SegmentationEvaluation evaluation, int most) {
        List<SegmentationEvaluation.Confusion> confusions =
                evaluation.confusions().stream().limit(most).toList();
        return new MetricTable(
                        List.of("pixels of"),
                        confusions.stream().map(confusion -> List.of(confusion.truth())).toList())
                .withText(
                        "taken for",
                        confusions.stream().map(SegmentationEvaluation.Confusion::predicted))
                .withText("pixels", confusions.stream().map(confusion -> "" + confusion.pixels()))
                .with("share", confusions.stream().map(SegmentationEvaluation.Confusion::share));
    }

    private MetricTable with(String head, Stream<Double> column) {
        return withText(head, column.map(MetricTable::number));
    }

    private MetricTable withText(String head, Stream<String> column) {
        List<String> cells = Stream.concat(Stream.of(head), column).toList();
        return new MetricTable(
                IntStream.range(0, cells.size())
                        .mapToObj(
                                r ->
                                        Stream.concat(rows.get(r).stream(), Stream.of(cells.get(r)))
                                                .toList())
                        .toList());
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
        List<List<String>> shown =
                rows.stream().map(row -> row.stream().map(Printable::line).toList()).toList();
        int[] widths =
                IntStream.range(0, shown.get(0).size())
                        .map(
                                c ->
                                        shown.stream()
                                                .mapToInt(row -> row.get(c).length())
                                                .max()
                                                .orElse(0))
                        .toArray();
        return shown.stream()
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
