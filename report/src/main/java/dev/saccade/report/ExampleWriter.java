package dev.saccade.report;

import dev.saccade.core.Text;
import dev.saccade.models.draw.ClassColors;

import java.util.List;

/**
 * Writes ground truth and predictions side by side, or stacked on narrow screens; for a classifier,
 * each image once.
 */
final class ExampleWriter {

    private static final String ZOOM =
            "Click an image to enlarge it; switch images with the arrow keys.";

    private final Markup out;
    private final Examples examples;
    private final boolean isSegmentation;
    private final boolean isClassification;

    ExampleWriter(Markup out, Examples examples) {
        this.out = out;
        this.examples = examples;
        Example first = examples.rows().get(0).get(0);
        this.isSegmentation = first instanceof SegmentationExample;
        this.isClassification = first instanceof ClassificationExample;
    }

    void write() {
        out.open("p", "class", "lead").text(lead()).close();
        out.open("div", "class", "controls");
        if (!isSegmentation && !isClassification) {
            writeThreshold();
        }
        writeOrder();
        out.close();
        if (isClassification) {
            out.open("div", "class", "examples small");
            examples.rows().forEach(this::writeClassified);
        } else {
            writeLegend();
            out.open("div", "class", examples.runs().size() > 1 ? "examples wide" : "examples");
            for (int i = 0; i < examples.size(); i++) {
                write(examples.rows().get(i), "image" + i);
            }
        }
        out.close();
    }

    private String lead() {
        if (isClassification) {
            return "Predicted classes with their probabilities. " + ZOOM;
        }
        return isSegmentation
                ? "Ground truth, then prediction. Unlabeled pixels have no color. " + ZOOM
                : "Ground truth, then predictions with scores in percent. " + ZOOM;
    }

    private void writeThreshold() {
        String start = Text.format("%.2f", examples.threshold());
        out.open("label", "class", "threshold").text("Score threshold ").leaf("output", start);
        out.empty("input", "type", "range", "min", "0", "max", "1", "step", "0.01", "value", start);
        out.close();
    }

    private void writeOrder() {
        out.open("div", "class", "order").open("label").text("Order ").open("select");
        out.leaf("option", "worst first", "value", "worst");
        out.leaf("option", "best first", "value", "best");
        out.leaf("option", "file name", "value", "name");
        out.close().close().text(" ");
        String shown = Text.format("%d of %d images", examples.size(), examples.all());
        String more = "; show all: ./saccade report RUN --examples " + examples.all();
        boolean whole = examples.size() == examples.all();
        out.leaf("span", whole ? shown : shown + more, "class", "note");
        out.close();
    }

    /** Lists the box styles of a detector, and the colors of classes drawn as masks or regions. */
    private void writeLegend() {
        if (!isSegmentation) {
            out.open("ul", "class", "legend marks");
            out.leaf("li", "correct (same class, IoU ≥ 0.50)", "class", "correct");
            out.leaf("li", "false positive", "class", "wrong");
            if (examples.rows().stream().flatMap(List::stream).anyMatch(Example::hasIgnored)) {
                String ignored = "ignored (in a crowd, or its class is not labeled in this image)";
                out.leaf("li", ignored, "class", "ignored");
            }
            if (examples.runs().size() == 1) {
                out.leaf("li", "missed (false negative)", "class", "missed");
            }
            out.close();
        }
        List<Integer> colors = ClassColors.of(examples.classes());
        out.open("ul", "class", "legend");
        examples.rows().stream()
                .flatMap(List::stream)
                .flatMapToInt(Example::legend)
                .distinct()
                .sorted()
                .forEach(label -> writeClass(label, colors));
        out.close();
    }

    private void writeClass(int label, List<Integer> colors) {
        int color = isSegmentation ? colors.get(label) : ClassColors.rgb(label);
        out.leaf("li", examples.className(label), "style", Report.style(color));
    }

    private void writeClassified(List<Example> byRun) {
        openFigure(byRun);
        openView();
        byRun.get(0).writeTruth(out, examples, "");
        out.close().leaf("span", byRun.get(0).name(), "class", "name");
        for (int run = 0; run < byRun.size(); run++) {
            out.open("div");
            writeSummary(byRun, run);
            out.close();
        }
        out.close().close();
    }

    private void openFigure(List<Example> byRun) {
        double mistakes = byRun.stream().mapToDouble(run -> run.errors(examples.threshold())).sum();
        out.open("figure", "class", "example", "data-mistakes", Text.format("%.6f", mistakes));
    }

    private void writeSummary(List<Example> byRun, int run) {
        if (byRun.size() > 1) {
            out.leaf("span", examples.runs().get(run), "class", "run").text(" ");
        }
        out.leaf("span", byRun.get(run).summary(examples.threshold()), "class", "tally");
    }

    private void write(List<Example> byRun, String id) {
        List<String> runs = examples.runs();
        openFigure(byRun);
        out.open("div", "class", "pair", "style", "--columns:" + (1 + runs.size()));
        openView();
        byRun.get(0).writeTruth(out, examples, id);
        out.close().leaf("span", byRun.get(0).name(), "class", "name").close();
        for (int run = 0; run < byRun.size(); run++) {
            openView();
            byRun.get(run).writePredictions(out, examples, id);
            out.close();
            writeSummary(byRun, run);
            out.close();
        }
        out.close().close();
    }

    private void openView() {
        out.open("div", "class", "view");
        out.open("button", "class", "zoom", "type", "button", "title", "Enlarge");
    }
}
