package dev.saccade.report;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.models.draw.ClassColors;
import dev.saccade.models.draw.LabelLayout;

import java.util.stream.IntStream;

/** Draws boxes styled as correct, false positive, ignored or missed, and masks in class colors. */
final class DetectionDrawing {

    /** Font size as a fraction of the longer image edge. */
    private static final double FONT_SIZE = 0.034;

    /** Letter width, margin and line height, in font sizes. */
    private static final double LETTER = 0.7;

    private static final double MARGIN = 0.2;
    private static final double LINE = 1.1;

    private final Markup out;
    private final Examples all;
    private final DetectionExample example;
    private final double fontSize;

    DetectionDrawing(Markup out, Examples all, DetectionExample example) {
        this.out = out;
        this.all = all;
        this.example = example;
        this.fontSize = FONT_SIZE * Math.max(example.size().width(), example.size().height());
    }

    void writeTruth(String id) {
        open("truth", "Ground truth of " + example.name());
        String jpeg = "data:image/jpeg;base64," + example.jpeg();
        String width = String.valueOf(example.size().width());
        String height = String.valueOf(example.size().height());
        out.empty("image", "id", id, "href", jpeg, "width", width, "height", height);
        Instances truth = example.truth();
        double[] scores = example.truthScores();
        for (int i = truth.size() - 1; i >= 0; i--) {
            String state = scores[i] < all.threshold() ? "box missed" : "box correct";
            object(truth, i, scores[i], all.runs().size() == 1 ? state : "box");
        }
        LabelLayout layout = new LabelLayout(example.size(), truth.boxes());
        for (int i = 0; i < truth.size(); i++) {
            label(layout, truth.boxes(), i, all.className(truth.label(i)), 1);
        }
        out.close();
    }

    /** Writes predictions over the image of {@link #writeTruth}, which is embedded only once. */
    void writePredictions(String id) {
        open("found", "Predictions for " + example.name());
        out.empty("use", "href", "#" + id);
        Instances found = example.predictions();
        int[] matches = example.matches();
        for (int i = found.size() - 1; i >= 0; i--) {
            String state = state(matches[i]) + weak(found.score(i));
            object(found, i, found.score(i), state);
        }
        int[] shown =
                IntStream.range(0, found.size())
                        .filter(i -> found.score(i) >= all.threshold())
                        .toArray();
        LabelLayout layout = new LabelLayout(example.size(), found.boxes().select(shown));
        for (int i = 0; i < found.size(); i++) {
            String percent = Text.format(" %.0f", 100 * found.score(i));
            String text = all.className(found.label(i)) + percent;
            label(layout, found.boxes(), i, text, found.score(i));
        }
        out.close();
    }

    private static String state(int match) {
        if (match == DetectionExample.IGNORED) {
            return "box ignored";
        }
        return match < 0 ? "box wrong" : "box correct";
    }

    private void open(String kind, String description) {
        String box = "0 0 " + example.size().width() + " " + example.size().height();
        String font = "font-size:" + Svg.number(fontSize) + "px";
        out.open(
                "svg",
                "class",
                kind,
                "viewBox",
                box,
                "style",
                font,
                "role",
                "img",
                "aria-label",
                description);
    }

    private void object(Instances objects, int i, double score, String kind) {
        String color = Report.style(ClassColors.rgb(objects.label(i)));
        out.open("g", "class", kind, "style", color, "data-score", decimals(score));
        if (objects.hasMasks()) {
            MaskPath mask = MaskPath.trace(objects.mask(i));
            String scale = "scale(" + mask.scale() + ")";
            out.empty("path", "class", "mask", "d", mask.steps(), "transform", scale);
        }
        Boxes boxes = objects.boxes();
        String outline = Svg.rectangle(boxes.x1(i), boxes.y1(i), boxes.x2(i), boxes.y2(i));
        out.empty("path", "class", "halo", "d", outline);
        out.empty("path", "class", "edge", "d", outline).close();
    }

    private void label(LabelLayout layout, Boxes boxes, int i, String text, double score) {
        double width = (Svg.cells(text) * LETTER + 2 * MARGIN) * fontSize;
        layout.place(boxes, i, width, LINE * fontSize)
                .ifPresent(place -> label(place, text, score));
    }

    private void label(LabelLayout.Place place, String text, double score) {
        String kind = "name" + weak(score);
        String x = Svg.number(place.left() + MARGIN * fontSize);
        String y = Svg.number(place.top() + 0.92 * fontSize);
        out.leaf("text", text, "class", kind, "data-score", decimals(score), "x", x, "y", y);
    }

    private String weak(double score) {
        return score >= all.threshold() ? "" : " weak";
    }

    private static String decimals(double score) {
        return Text.format("%.3f", score);
    }
}
