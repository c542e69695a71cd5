package dev.saccade.report.runs;

import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.datasets.ImageLabelStatistics;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.PixelStatistics;
import dev.saccade.report.FactList.Fact;
import dev.saccade.report.Histogram;
import dev.saccade.report.Histogram.Bar;
import dev.saccade.report.runs.RunMetrics.DataSummary;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;

final class DatasetFacts {

    private DatasetFacts() {}

    /** Summarizes data sets by split, such as {@code train}. */
    static DataSummary of(Map<String, DatasetStatistics> roles) {
        List<Fact> facts = new ArrayList<>();
        List<Histogram> histograms = new ArrayList<>();
        roles.forEach(
                (role, statistics) -> {
                    String images = Count.of(statistics.images(), "image");
                    facts.add(new Fact(role, images, content(statistics)));
                    histograms.addAll(histograms(role, statistics));
                });
        return new DataSummary(facts, histograms);
    }

    private static String content(DatasetStatistics statistics) {
        if (statistics instanceof ObjectStatistics objects) {
            return Text.format(
                    "%s, %s without objects",
                    Count.of(objects.objects().boxes(), "object"),
                    Count.of(objects.imagesWithoutBoxes(), "image"));
        }
        if (statistics instanceof ImageLabelStatistics labels) {
            return Count.of(labels.imagesPerClass().size(), "class");
        }
        PixelStatistics labeled = (PixelStatistics) statistics;
        double all = Math.max(1, labeled.pixels() + labeled.ignored());
        return Text.format(
                "%.1f million labeled pixels (%.1f%%)",
                labeled.pixels() / 1e6, 100 * labeled.pixels() / all);
    }

    private static List<Histogram> histograms(String role, DatasetStatistics statistics) {
        if (statistics instanceof ObjectStatistics objects) {
            return List.of(
                    new Histogram(
                            "Objects per class, " + role,
                            "class",
                            bars(objects.boxesPerClass(), UnaryOperator.identity(), n -> n)),
                    new Histogram(
                            "Object sizes, " + role,
                            "√area in pixels, upper limits",
                            bars(objects.boxesPerSize(), DatasetFacts::shortSize, n -> n)));
        }
        if (statistics instanceof ImageLabelStatistics labels) {
            return List.of(
                    new Histogram(
                            "Images per class, " + role,
                            "class",
                            bars(labels.imagesPerClass(), UnaryOperator.identity(), n -> n)));
        }
        PixelStatistics labeled = (PixelStatistics) statistics;
        return List.of(
                new Histogram(
                        "Pixels per class, " + role,
                        "class",
                        bars(
                                labeled.classes(),
                                UnaryOperator.identity(),
                                shown -> shown.pixels())));
    }

    private static <T> List<Bar> bars(
            Map<String, T> counts, UnaryOperator<String> name, ToLongFunction<T> count) {
        return counts.entrySet().stream()
                .map(each -> new Bar(name.apply(each.getKey()), count.applyAsLong(each.getValue())))
                .toList();
    }

    private static String shortSize(String size) {
        return size.replace("below ", "").replace(" px and more", "+").replace(" px", "");
    }
}
