package dev.saccade.report;

import dev.saccade.core.Text;

import java.util.List;

/**
 * All that a report shows. Whatever is empty is left out of the page.
 *
 * @param header what was run, and how it did
 * @param overview what comes before all pictures
 * @param examples held-back pictures with what is on them and what was predicted
 * @param training curves over the course of the training
 * @param sections what was measured
 * @param data what the data set holds
 * @param setup how it was run
 */
public record ReportData(
        Header header,
        List<Section> overview,
        Examples examples,
        List<LineChart> training,
        List<Section> sections,
        DataSummary data,
        Setup setup) {

    /**
     * The top of the page.
     *
     * @param title what was run, such as the name of the model
     * @param subtitle one sentence about it
     * @param headline the figures that a reader looks for first, the most important first
     */
    public record Header(String title, String subtitle, List<Fact> headline) {}

    /**
     * What the data set holds.
     *
     * @param facts tables about it
     * @param charts histograms of it
     */
    public record DataSummary(List<Fact> facts, List<Histogram> charts) {}

    /**
     * How it was run.
     *
     * @param config the resolved config as YAML
     * @param environment versions and machine
     */
    public record Setup(String config, List<Fact> environment) {}

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

        /** Makes a fact of a number from 0 to 1; one below 0 could not be measured. */
        public static Fact ofShare(String name, double share, String note) {
            String value = share < 0 ? "n/a" : Text.format("%.3f", share);
            return new Fact(name, value, note);
        }
    }

    /**
     * How often something occurs.
     *
     * @param title what is counted
     * @param xLabel what the bars stand for
     * @param bars from left to right
     */
    public record Histogram(String title, String xLabel, List<Bar> bars) {}

    /**
     * One bar of a histogram.
     *
     * @param name what is counted, short
     * @param count how often it occurs
     */
    public record Bar(String name, long count) {}
}
