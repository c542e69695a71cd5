package dev.saccade.report;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.models.draw.ClassColors;
import dev.saccade.models.draw.LabelLayout;

import java.io.IOException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Draws the ground truth and the predictions of each image. Correct, wrong and missed boxes differ
 * in color and in dashes; masks have the color of their class.
 */
final class DetectionExampleWriter extends ExampleWriter {

    /** The size of letters over the longer edge of the photograph. */
    private static final double FONT_SIZE = 0.034;

    /**
     * The widths of a letter and of the space beside a name, and the height, in font sizes: those
     * of the widest font that browsers are likely to take.
     */
    private static final double LETTER = 0.7;

    private static final double MARGIN = 0.2;
    private static final double LINE = 1.1;

    private final double threshold;

    DetectionExampleWriter(Markup out, Examples examples) {
        super(out, examples);
        this.threshold = examples.threshold();
    }

    @Override
    void writeLead(String zoom) {
        String start = Text.format("%.2f", threshold);
        out.open("p", "class", "lead");
        out.text("Ground truth first, then predictions with their score in percent. ");
        out.text(zoom).close();
        out.open("label", "class", "threshold").text("Score threshold ");
        out.leaf("output", start);
        out.empty("input", "type", "range", "min", "0", "max", "1", "step", "0.01", "value", start);
        out.close();
    }

    /** Lists the styles of boxes, and the classes that occur with the colors of their masks. */
    @Override
    void writeLegend() {
        out.open("ul", "class", "legend marks");
        out.leaf("li", "correct (right class, IoU ≥ 0.50)", "class", "correct");
        out.leaf("li", "false positive", "class", "wrong");
        if (examples.runs().size() == 1) {
            out.leaf("li", "missed (false negative)", "class", "missed");
        }
        out.close();
        writeClasses(
                examples.pictures().stream()
                        .flatMap(List::stream)
                        .map(DetectionExample.class::cast)
                        .flatMap(example -> Stream.of(example.truth(), example.predictions()))
                        .filter(Instances::hasMasks)
                        .flatMapToInt(objects -> Arrays.stream(objects.labels())),
                ClassColors::rgb);
    }

    @Override
    void writeTruth(Example example, String id) throws IOException {
        DetectionExample detected = (DetectionExample) example;
        openPhoto(detected, "truth");
        String jpeg = Base64.getEncoder().encodeToString(detected.jpeg().read());
        out.empty(
                "image",
                "id",
                id,
                "href",
                "data:image/jpeg;base64," + jpeg,
                "width",
                String.valueOf(detected.size().width()),
                "height",
                String.valueOf(detected.size().height()));
        truth(detected);
        out.close();
    }

    /** Refers to the image of the ground truth, so that its bytes are embedded once. */
    @Override
    void writePredictions(Example example, String id) {
        DetectionExample detected = (DetectionExample) example;
        openPhoto(detected, "found");
        out.empty("use", "href", "#" + id);
        predictions(detected);
        out.close();
    }

    private void openPhoto(DetectionExample example, String kind) {
        String name =
                (kind.equals("truth") ? "Ground truth of " : "Predictions for ") + example.name();
        out.open(
                "svg",
                "class",
                kind,
                "viewBox",
                "0 0 " + example.size().width() + " " + example.size().height(),
                "style",
                "font-size:" + Svg.number(fontSize(example)) + "px",
                "role",
                "img",
                "aria-label",
                name);
    }

    private static double fontSize(DetectionExample example) {
        return FONT_SIZE * Math.max(example.size().width(), example.size().height());
    }

    private void truth(DetectionExample example) {
        Instances truth = example.truth();
        ImmutableDoubleArray scores = example.truthScores();
        for (int i = truth.size() - 1; i >= 0; i--) {
            String state = scores.get(i) < threshold ? "box missed" : "box correct";
            object(truth, i, scores.get(i), examples.runs().size() == 1 ? state : "box");
        }
        double height = fontSize(example);
        LabelLayout layout = new LabelLayout(example.size(), truth.boxes());
        for (int i = 0; i < truth.size(); i++) {
            name(layout, height, truth.boxes(), i, className(truth.label(i)), 1);
        }
    }

    private void predictions(DetectionExample example) {
        Instances found = example.predictions();
        int[] partners = example.partners();
        for (int i = found.size() - 1; i >= 0; i--) {
            String state = (partners[i] < 0 ? "box wrong" : "box correct") + weak(found.score(i));
            object(found, i, found.score(i), state);
        }
        int[] sure =
                IntStream.range(0, found.size()).filter(i -> found.score(i) >= threshold).toArray();
        double height = fontSize(example);
        LabelLayout layout = new LabelLayout(example.size(), found.boxes().select(sure));
        for (int i = 0; i < found.size(); i++) {
            String percent = Text.format(" %.0f", 100 * found.score(i));
            String text = className(found.label(i)) + percent;
            name(layout, height, found.boxes(), i, text, found.score(i));
        }
    }

    /** Draws the box of an object, and its mask if there is one. */
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

    private void name(
            LabelLayout layout, double fontSize, Boxes boxes, int i, String text, double score) {
        double width = (Svg.cells(text) * LETTER + 2 * MARGIN) * fontSize;
        LabelLayout.Place place = layout.place(boxes, i, width, LINE * fontSize);
        out.leaf(
                "text",
                text,
                "class",
                "name" + weak(score),
                "data-score",
                decimals(score),
                "x",
                Svg.number(place.left()),
                "y",
                Svg.number(place.top()),
                "dx",
                "0.2em",
                "dy",
                "0.92em");
    }

    private String weak(double score) {
        return score >= threshold ? "" : " weak";
    }

    private static String decimals(double score) {
        return Text.format("%.3f", score);
    }
}
