package dev.saccade.report.runs;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.PixelStatistics;
import dev.saccade.report.ReportData;

import java.util.List;
import java.util.Map;

/** What the data sets of a run hold, by their role, as figures of its report. */
public final class DatasetFacts {

    private DatasetFacts() {}

    public static List<ReportData.Fact> facts(Map<String, DatasetStatistics> held) {
        return held.entrySet().stream()
                .map(
                        entry ->
                                new ReportData.Fact(
                                        entry.getKey(),
                                        Count.of(entry.getValue().photographs(), "image"),
                                        content(entry.getValue())))
                .toList();
    }

    private static String content(DatasetStatistics statistics) {
        if (statistics instanceof ObjectStatistics objects) {
            return Text.format(
                    "%s, %s without objects",
                    Count.of(objects.objects().boxes(), "object"),
                    Count.of(objects.withoutBoxes(), "image"));
        }
        PixelStatistics labeled = (PixelStatistics) statistics;
        double all = Math.max(1, labeled.pixels() + labeled.ignored());
        return Text.format(
                "%.1f million labeled pixels (%.1f%%)",
                labeled.pixels() / 1e6, 100 * labeled.pixels() / all);
    }

    public static List<ReportData.Histogram> histograms(Map<String, DatasetStatistics> held) {
        ImmutableList.Builder<ReportData.Histogram> histograms = ImmutableList.builder();
        held.forEach(
                (role, statistics) -> {
                    if (statistics instanceof ObjectStatistics objects) {
                        histograms.add(
                                new ReportData.Histogram(
                                        "Objects per class, " + role,
                                        "class",
                                        bars(objects.boxesPerClass())));
                        histograms.add(
                                new ReportData.Histogram(
                                        "Object sizes, " + role,
                                        "square root of the area, below … pixels",
                                        sizeBars(objects.boxesPerSize())));
                    } else if (statistics instanceof PixelStatistics labeled) {
                        histograms.add(
                                new ReportData.Histogram(
                                        "Pixels per class, " + role, "class", classBars(labeled)));
                    }
                });
        return histograms.build();
    }

    private static List<ReportData.Bar> classBars(PixelStatistics labeled) {
        return labeled.classes().entrySet().stream()
                .map(shown -> new ReportData.Bar(shown.getKey(), shown.getValue().pixels()))
                .toList();
    }

    /** Bars whose names are short enough to stand side by side. */
    private static List<ReportData.Bar> sizeBars(Map<String, Integer> counts) {
        return bars(counts).stream()
                .map(
                        bar ->
                                new ReportData.Bar(
                                        bar.name()
                                                .replace("below ", "")
                                                .replace(" px and more", "+")
                                                .replace(" px", ""),
                                        bar.count()))
                .toList();
    }

    private static List<ReportData.Bar> bars(Map<String, Integer> counts) {
        return counts.entrySet().stream()
                .map(count -> new ReportData.Bar(count.getKey(), count.getValue()))
                .toList();
    }
}
