package dev.saccade.report;

import dev.saccade.core.Text;

import java.io.IOException;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Writes the ground truth of each image and the predictions of each run, side by side; stacked on
 * narrow screens. The script enlarges a picture when its button is pressed.
 */
abstract class ExampleWriter {

    final Markup out;
    final Examples examples;

    ExampleWriter(Markup out, Examples examples) {
        this.out = out;
        this.examples = examples;
    }

    /** Writes the examples of any task. */
    static void write(Markup out, Examples examples) throws IOException {
        boolean isSegmentation = examples.pictures().get(0).get(0) instanceof SegmentationExample;
        ExampleWriter writer =
                isSegmentation
                        ? new SegmentationExampleWriter(out, examples)
                        : new DetectionExampleWriter(out, examples);
        writer.writeLead(
                "Click a picture to enlarge it; the arrow keys switch between ground truth and"
                        + " prediction.");
        writer.writeOrder();
        writer.writeLegend();
        out.open("div", "class", examples.runs().size() > 1 ? "examples wide" : "examples");
        for (int i = 0; i < examples.size(); i++) {
            writer.write(examples.pictures().get(i), "photo" + i);
        }
        out.close();
    }

    abstract void writeLead(String zoom);

    abstract void writeLegend();

    /** Writes the picture of the ground truth. */
    abstract void writeTruth(Example example, String id) throws IOException;

    /** Writes the picture of the predictions of a run. */
    abstract void writePredictions(Example example, String id) throws IOException;

    private void writeOrder() {
        out.open("p", "class", "order").open("label").text("Sort by ").open("select");
        out.leaf("option", "worst result", "value", "worst");
        out.leaf("option", "best result", "value", "best");
        out.leaf("option", "file name", "value", "name");
        out.close().close().text(" ");
        String shown = Text.format("%d of %d images", examples.size(), examples.all());
        String more = "; show all: ./saccade report RUN --examples " + examples.all();
        boolean whole = examples.size() == examples.all();
        out.leaf("span", whole ? shown : shown + more, "class", "note");
        out.close();
    }

    /** Writes the names of classes that occur, with their colors. */
    void writeClasses(IntStream labels, IntUnaryOperator color) {
        out.open("ul", "class", "legend");
        labels.distinct()
                .sorted()
                .forEach(
                        label ->
                                out.leaf(
                                        "li",
                                        className(label),
                                        "style",
                                        Report.style(color.applyAsInt(label))));
        out.close();
    }

    String className(int label) {
        List<String> classes = examples.classes();
        return label < classes.size() ? classes.get(label) : "class " + label;
    }

    private void write(List<Example> byRun, String id) throws IOException {
        double threshold = examples.threshold();
        List<String> runs = examples.runs();
        double mistakes = byRun.stream().mapToDouble(run -> run.mistakes(threshold)).sum();
        out.open("figure", "class", "example", "data-mistakes", Text.format("%.6f", mistakes));
        out.open("div", "class", "pair", "style", "--columns:" + (1 + runs.size()));
        openView();
        writeTruth(byRun.get(0), id);
        out.close().leaf("span", byRun.get(0).name(), "class", "name").close();
        for (int run = 0; run < byRun.size(); run++) {
            openView();
            writePredictions(byRun.get(run), id);
            out.close();
            if (runs.size() > 1) {
                out.leaf("span", runs.get(run), "class", "run").text(" ");
            }
            out.leaf("span", byRun.get(run).tally(threshold), "class", "tally").close();
        }
        out.close().close();
    }

    private void openView() {
        out.open("div", "class", "view");
        out.open("button", "class", "zoom", "type", "button", "title", "Enlarge");
    }
}
