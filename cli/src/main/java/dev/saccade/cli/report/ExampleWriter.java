package dev.saccade.cli.report;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;

import java.io.IOException;
import java.util.Base64;
import java.util.List;
import java.util.Locale;

/** Draws pictures with what is on them at the left and what was found at the right. */
final class ExampleWriter {

    private final Markup out;
    private final List<String> classes;
    private final double threshold;

    ExampleWriter(Markup out, List<String> classes, double threshold) {
        this.out = out;
        this.classes = classes;
        this.threshold = threshold;
    }

    /**
     * Draws one picture twice; its bytes are embedded once.
     *
     * @param position of the example in the report
     */
    void write(Example example, int position) throws IOException {
        String id = "photo" + position;
        String width = String.valueOf(example.size().width());
        String height = String.valueOf(example.size().height());
        String jpeg = Base64.getEncoder().encodeToString(example.jpeg().read());
        out.open("figure", "class", "example").open("div", "class", "pair");
        openPhoto(example, "truth");
        out.empty(
                "image",
                "id",
                id,
                "href",
                "data:image/jpeg;base64," + jpeg,
                "width",
                width,
                "height",
                height);
        truth(example);
        out.close();
        openPhoto(example, "found");
        out.empty("use", "href", "#" + id);
        predictions(example);
        out.close().close();
        out.open("figcaption").leaf("span", example.name(), "class", "name").text(" ");
        out.leaf("span", tally(example), "class", "tally").close().close();
    }

    private void openPhoto(Example example, String kind) {
        int width = example.size().width();
        int height = example.size().height();
        String name = (kind.equals("truth") ? "Labels of " : "Predictions for ") + example.name();
        out.open(
                "svg",
                "class",
                kind,
                "viewBox",
                "0 0 " + width + " " + height,
                "style",
                "font-size:" + Svg.number(Math.max(width, height) * 0.034) + "px",
                "role",
                "img",
                "aria-label",
                name);
    }

    private void truth(Example example) {
        ImmutableDoubleArray scores = example.truthScores();
        Instances truth = example.truth();
        for (int i = 0; i < truth.size(); i++) {
            double score = scores.get(i);
            String state = score >= threshold ? "" : " lone";
            openBox(truth.label(i), state, score);
            box(truth.boxes(), i, className(truth.label(i)), example.size().width());
        }
    }

    private void predictions(Example example) {
        Instances predictions = example.predictions();
        int[] partners = example.partners();
        for (int i = predictions.size() - 1; i >= 0; i--) {
            double score = predictions.score(i);
            String state = (partners[i] < 0 ? " lone" : "") + (score >= threshold ? "" : " weak");
            openBox(predictions.label(i), state, score);
            String percent = String.format(Locale.ROOT, " %.0f", 100 * score);
            box(
                    predictions.boxes(),
                    i,
                    className(predictions.label(i)) + percent,
                    example.size().width());
        }
    }

    private void openBox(int label, String state, double score) {
        String kind = "box c" + label % Report.COLOURS + state;
        out.open("g", "class", kind, "data-score", String.format(Locale.ROOT, "%.3f", score));
    }

    private void box(Boxes boxes, int i, String label, int photoWidth) {
        String left = Svg.number(boxes.x1(i));
        String top = Svg.number(boxes.y1(i));
        String right = Svg.number(boxes.x2(i));
        String outline =
                "M%s %sH%sV%sH%sZ".formatted(left, top, right, Svg.number(boxes.y2(i)), left);
        out.empty("path", "class", "halo", "d", outline).empty("path", "d", outline);
        boolean atRight = boxes.x1(i) > 0.75 * photoWidth;
        String x = atRight ? right : left;
        String dx = atRight ? "-0.2em" : "0.2em";
        String kind = atRight ? "atRight" : "atLeft";
        out.leaf("text", label, "class", kind, "x", x, "y", top, "dx", dx, "dy", "0.95em");
        out.close();
    }

    private String className(int label) {
        return label < classes.size() ? classes.get(label) : "class " + label;
    }

    private String tally(Example example) {
        long found = example.truthScores().stream().filter(score -> score >= threshold).count();
        int[] partners = example.partners();
        long wrong = 0;
        for (int i = 0; i < partners.length; i++) {
            wrong += partners[i] < 0 && example.predictions().score(i) >= threshold ? 1 : 0;
        }
        return "%d of %d found, %d false".formatted(found, example.truth().size(), wrong);
    }
}
