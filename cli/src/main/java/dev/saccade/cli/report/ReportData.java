package dev.saccade.cli.report;

import com.google.common.collect.ImmutableList;

import java.util.List;

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
 * @param precision curves of precision
 * @param errors what mending errors would gain
 * @param confusion which class was taken for which
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
        ShareTable metrics,
        List<LineChart> precision,
        ShareTable errors,
        List<HeatMap> confusion,
        ShareTable classes,
        List<Fact> data,
        List<Histogram> dataCharts,
        String config,
        List<Fact> environment) {

    /** Copies the lists. */
    public ReportData {
        headline = ImmutableList.copyOf(headline);
        examples = ImmutableList.copyOf(examples);
        training = ImmutableList.copyOf(training);
        precision = ImmutableList.copyOf(precision);
        confusion = ImmutableList.copyOf(confusion);
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
