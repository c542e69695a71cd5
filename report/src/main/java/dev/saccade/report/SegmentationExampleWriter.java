package dev.saccade.report;

import dev.saccade.report.draw.ClassColors;

import java.io.IOException;
import java.util.Base64;
import java.util.List;

/** Shows pictures under the colors of their labels at the left and of predictions at the right. */
final class SegmentationExampleWriter {

    private final Markup out;
    private final SegmentationExamples examples;

    private SegmentationExampleWriter(Markup out, SegmentationExamples examples) {
        this.out = out;
        this.examples = examples;
    }

    /** Writes what the colors mean, and the pictures. */
    static void write(Markup out, SegmentationExamples examples) throws IOException {
        SegmentationExampleWriter writer = new SegmentationExampleWriter(out, examples);
        out.leaf("p", "Labels at the left, predictions at the right.", "class", "lead");
        writer.legend();
        out.open("div", "class", "examples");
        for (SegmentationExamples.Picture picture : examples.pictures()) {
            writer.write(picture);
        }
        out.close();
    }

    private void legend() {
        List<Integer> colors = ClassColors.of(examples.classes());
        out.open("ul", "class", "legend");
        examples.pictures().stream()
                .flatMap(picture -> picture.labels().stream())
                .distinct()
                .sorted()
                .forEach(
                        label ->
                                out.leaf(
                                        "li",
                                        examples.classes().get(label),
                                        "style",
                                        Report.style(colors.get(label))));
        out.close();
    }

    private void write(SegmentationExamples.Picture picture) throws IOException {
        out.open("figure", "class", "example").open("div", "class", "pair");
        image("Labels of " + picture.name(), picture.truth().read());
        image("Predictions for " + picture.name(), picture.predicted().read());
        out.close();
        out.open("figcaption").leaf("span", picture.name(), "class", "name").text(" ");
        out.leaf("span", picture.tally(), "class", "tally").close().close();
    }

    private void image(String name, byte[] jpeg) {
        String data = "data:image/jpeg;base64," + Base64.getEncoder().encodeToString(jpeg);
        out.empty("img", "src", data, "alt", name);
    }
}
