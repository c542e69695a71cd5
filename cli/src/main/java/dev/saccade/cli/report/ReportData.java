package dev.saccade.cli.report;

import com.google.common.collect.ImmutableList;

import java.util.List;
import java.util.OptionalDouble;

/**
 * All that a report shows. Whatever is empty is left out of the page.
 *
 * @param title what was run, such as the name of the model
 * @param subtitle one sentence about it
 * @param headline the figures that a reader looks for first, the most important first
 * @param examples held-back pictures with what is on them and what was found
 * @param scoreThreshold score from which a prediction is shown at first, 0 to 1
 * @param training curves over the course of the training
 * @param metrics the numbers of COCO's summary
 * @param precisionRecall precision over recall, a series for each class
 * @param classes the classes in the order of their labels
 * @param data tables about the data set
 * @param dataCharts histograms of the data set
 * @param config the resolved config as YAML
 * @param environment versions and machine
 */
public record ReportData(
        String title,
        String subtitle,
        List<Fact> headline,
        List<Example> examples,
        double scoreThreshold,
        List<LineChart> training,
        List<Metric> metrics,
        List<LineChart> precisionRecall,
        List<ClassResult> classes,
        List<Fact> data,
        List<Histogram> dataCharts,
        String config,
        List<Fact> environment) {

    /** Copies the lists. */
    public ReportData {
        headline = ImmutableList.copyOf(headline);
        examples = ImmutableList.copyOf(examples);
        training = ImmutableList.copyOf(training);
        metrics = ImmutableList.copyOf(metrics);
        precisionRecall = ImmutableList.copyOf(precisionRecall);
        classes = ImmutableList.copyOf(classes);
        data = ImmutableList.copyOf(data);
        dataCharts = ImmutableList.copyOf(dataCharts);
        environment = ImmutableList.copyOf(environment);
    }

    /**
     * Something to know about the run.
     *
     * @param name what it is
     * @param value its value, formatted
     * @param note a few words more, or empty
     */
    public record Fact(String name, String value, String note) {

        /** Makes a fact without a note. */
        public Fact(String name, String value) {
            this(name, value, "");
        }
    }

    /**
     * One number of COCO's summary.
     *
     * @param name such as {@code AP50}
     * @param meaning such as {@code IoU 0.50, all sizes, 100 detections}
     * @param value 0 to 1; empty if there is nothing to measure it on
     */
    public record Metric(String name, String meaning, OptionalDouble value) {}

    /**
     * How well a class is found.
     *
     * @param name of the class
     * @param objects number of its objects in the held-back pictures
     * @param ap mean over IoU 0.50 to 0.95; empty if there are no objects
     * @param ap50 at IoU 0.50
     * @param ap75 at IoU 0.75
     */
    public record ClassResult(
            String name,
            int objects,
            OptionalDouble ap,
            OptionalDouble ap50,
            OptionalDouble ap75) {}

    /**
     * How often something occurs.
     *
     * @param title what is counted
     * @param xLabel what the bars stand for
     * @param bars from left to right
     */
    public record Histogram(String title, String xLabel, List<Bar> bars) {

        /** Copies the list. */
        public Histogram {
            bars = ImmutableList.copyOf(bars);
        }
    }

    /**
     * One bar of a histogram.
     *
     * @param name what is counted, short
     * @param count how often it occurs
     */
    public record Bar(String name, long count) {}
}
