package dev.saccade.eval.coco;

import static dev.saccade.eval.coco.MetricArray.ALL;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Workers;
import dev.saccade.eval.bootstrap.ResampledMetric;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * COCO's average precision and recall, equal to pycocotools' COCOeval, except that objects with
 * annotation id 0 can be matched.
 */
public final class CocoMetrics {

    private static final int T = CocoParameters.IOU_THRESHOLDS.length();
    private static final int R = CocoParameters.RECALL_THRESHOLDS.length();
    private static final int A = AreaRange.values().length;
    private static final int IOU_50 = 0;
    private static final int IOU_75 = 5;

    private final Matches matches;
    private final CocoParameters parameters;
    private final List<String> classes;
    private final int largest;
    private final MetricArray precision;
    private final MetricArray recall;
    private final MetricArray scores;

    private CocoMetrics(Matches matches, List<String> classes) {
        this.matches = matches;
        this.parameters = matches.parameters;
        this.classes = classes;
        int limits = parameters.maxDetections().size();
        this.largest = limits - 1;
        this.precision = new MetricArray(T, R, classes.size(), A, limits);
        this.recall = new MetricArray(T, classes.size(), A, limits);
        this.scores = new MetricArray(T, R, classes.size(), A, limits);
    }

    /**
     * Computes the metrics of detections; the result does not depend on {@code threads}.
     *
     * @throws SaccadeException if the data set has no classes, or if a detection has an unknown
     *     image or class, lacks a mask, or has a mask of the wrong size
     */
    public static CocoMetrics compute(
            GroundTruth groundTruth,
            CocoDetections detections,
            CocoParameters parameters,
            int threads) {
        groundTruth.requireMatching(detections);
        List<String> classes =
                parameters.useClasses() ? groundTruth.classes() : ImmutableList.of("any class");
        try (Workers workers = new Workers("saccade-eval", threads)) {
            Matches matches = Matches.match(groundTruth, detections, parameters, workers);
            CocoMetrics result = new CocoMetrics(matches, classes);
            workers.run(
                    classes.size(),
                    () ->
                            new Accumulator(matches, result.precision, result.recall, result.scores)
                                    ::accumulate);
            return result;
        }
    }

    public CocoParameters parameters() {
        return parameters;
    }

    /** Returns the classes of axis K (see {@link MetricArray}); only one if classes are ignored. */
    public List<String> classes() {
        return classes;
    }

    /**
     * Returns the interpolated precision at each recall threshold, [T, R, K, A, M]; 0 if not
     * reached.
     */
    public MetricArray precision() {
        return precision;
    }

    /** Returns the maximum recall, [T, K, A, M]. */
    public MetricArray recall() {
        return recall;
    }

    /**
     * Returns the score at which each recall threshold is reached, [T, R, K, A, M]; 0 if not
     * reached.
     */
    public MetricArray scores() {
        return scores;
    }

    /**
     * Returns COCO's summary in COCO's order: AP, AP50, AP75, APs, APm, APl, AR at each limit on
     * detections, ARs, ARm, ARl. All metrics except AR at smaller limits use the largest limit;
     * pycocotools' {@code summarize} always computes AP at 100 detections.
     */
    public List<SummaryRow> summary() {
        List<Integer> limits = parameters.maxDetections();
        ImmutableList.Builder<SummaryRow> rows = ImmutableList.builder();
        rows.add(
                precisionRow("AP", "0.50:0.95", ALL, AreaRange.ALL),
                precisionRow("AP50", "0.50", IOU_50, AreaRange.ALL),
                precisionRow("AP75", "0.75", IOU_75, AreaRange.ALL),
                precisionRow("APs", "0.50:0.95", ALL, AreaRange.SMALL),
                precisionRow("APm", "0.50:0.95", ALL, AreaRange.MEDIUM),
                precisionRow("APl", "0.50:0.95", ALL, AreaRange.LARGE));
        for (int m = 0; m < limits.size(); m++) {
            rows.add(recallRow("AR@" + limits.get(m), AreaRange.ALL, m));
        }
        rows.add(recallRow("ARs", AreaRange.SMALL, largest));
        rows.add(recallRow("ARm", AreaRange.MEDIUM, largest));
        rows.add(recallRow("ARl", AreaRange.LARGE, largest));
        return rows.build();
    }

    private SummaryRow precisionRow(String name, String iou, int t, AreaRange area) {
        double value = ap(t, ALL, area);
        return new SummaryRow(name, iou, area, parameters.maxDetectionLimit(), value);
    }

    private SummaryRow recallRow(String name, AreaRange area, int m) {
        double value = recall.mean(ALL, ALL, area.index(), m);
        return new SummaryRow(name, "0.50:0.95", area, parameters.maxDetections().get(m), value);
    }

    private double ap(int t, int k, AreaRange area) {
        return precision.mean(t, ALL, k, area.index(), largest);
    }

    /**
     * Returns the defined metrics of {@link #summary} by name; mask metrics begin with {@code
     * mask_}.
     */
    public Map<String, Double> values() {
        return summary().stream()
                .filter(SummaryRow::defined)
                .collect(
                        ImmutableMap.toImmutableMap(
                                row -> parameters.iouType().prefix() + row.name(),
                                SummaryRow::value));
    }

    /** Returns COCO's averages, also of each class. */
    public CocoAverages averages() {
        return new CocoAverages(
                ap(ALL, ALL, AreaRange.ALL),
                ap(IOU_50, ALL, AreaRange.ALL),
                ap(IOU_75, ALL, AreaRange.ALL),
                ap(ALL, ALL, AreaRange.SMALL),
                ap(ALL, ALL, AreaRange.MEDIUM),
                ap(ALL, ALL, AreaRange.LARGE),
                recall.mean(ALL, ALL, AreaRange.ALL.index(), largest),
                perClass());
    }

    /** Returns AP at an index of {@link CocoParameters#IOU_THRESHOLDS}; -1 without objects. */
    public double ap(int t, AreaRange area) {
        return ap(t, ALL, area);
    }

    /** Returns the average precision of each class at the largest limit on detections. */
    public List<ClassMetrics> perClass() {
        return IntStream.range(0, classes.size()).mapToObj(this::ofClass).toList();
    }

    private ClassMetrics ofClass(int k) {
        return new ClassMetrics(
                classes.get(k),
                matches.countObjects(k, AreaRange.ALL),
                ap(ALL, k, AreaRange.ALL),
                ap(IOU_50, k, AreaRange.ALL),
                ap(IOU_75, k, AreaRange.ALL),
                ap(ALL, k, AreaRange.SMALL),
                ap(ALL, k, AreaRange.MEDIUM),
                ap(ALL, k, AreaRange.LARGE));
    }

    /** Returns the curves of classes with objects; {@code t} as in {@link #ap(int, AreaRange)}. */
    public List<PrecisionRecallCurve> curves(int t) {
        return IntStream.range(0, classes.size())
                .filter(k -> matches.countObjects(k, AreaRange.ALL) > 0)
                .mapToObj(k -> curve(t, k))
                .toList();
    }

    private PrecisionRecallCurve curve(int t, int k) {
        double iou = CocoParameters.IOU_THRESHOLDS.get(t);
        return new PrecisionRecallCurve(
                classes.get(k), iou, overRecall(precision, t, k), overRecall(scores, t, k));
    }

    private ImmutableDoubleArray overRecall(MetricArray values, int t, int k) {
        int all = AreaRange.ALL.index();
        return ImmutableDoubleArray.copyOf(
                IntStream.range(0, R).mapToDouble(r -> values.get(t, r, k, all, largest)));
    }

    /**
     * Returns a metric for bootstrap intervals; empty for names other than {@code AP}, {@code AP50}
     * and {@code AP75}, of masks with the prefix {@code mask_}.
     */
    public Optional<ResampledMetric> resampled(String metric) {
        String prefix = parameters.iouType().prefix();
        int[] range =
                switch (metric.startsWith(prefix) ? metric.substring(prefix.length()) : "") {
                    case "AP" -> new int[] {0, T};
                    case "AP50" -> new int[] {IOU_50, IOU_50 + 1};
                    case "AP75" -> new int[] {IOU_75, IOU_75 + 1};
                    default -> new int[0];
                };
        return range.length == 0
                ? Optional.empty()
                : Optional.of(new ResampledAp(matches, classes.size(), range[0], range[1]));
    }

    /** Returns the result of each detection at IoU 0.50; ignored if beyond the largest limit. */
    public List<MatchStatus> matchStatuses() {
        return matches.matchStatuses();
    }

    /** Returns true and false positives of each class at IoU 0.50 by minimum score. */
    public ScoreCurves scoreCurves() {
        CocoDetections detections = matches.detections;
        return ScoreCurves.count(
                IntStream.range(0, detections.size())
                        .map(d -> parameters.useClasses() ? detections.label(d) : 0)
                        .toArray(),
                IntStream.range(0, detections.size()).mapToDouble(detections::score).toArray(),
                matchStatuses(),
                classes,
                IntStream.range(0, classes.size())
                        .map(k -> matches.countObjects(k, AreaRange.ALL))
                        .toArray());
    }
}
