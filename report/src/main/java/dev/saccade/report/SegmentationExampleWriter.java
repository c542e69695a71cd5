package dev.saccade.report;

import dev.saccade.core.Text;
import dev.saccade.models.draw.ClassColors;
import dev.saccade.report.SegmentationExamples.Picture;

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
        out.leaf(
                "p",
                "Ground truth first, then the prediction. Unlabeled pixels have no color. "
                        + Examples.ZOOM,
                "class",
                "lead");
        Examples.writeOrder(out, examples);
        writer.legend();
        out.open("div", "class", examples.runs().size() > 1 ? "examples wide" : "examples");
        for (List<Picture> picture : examples.pictures()) {
            writer.write(picture);
        }
        out.close();
    }

    private void legend() {
        List<Integer> colors = ClassColors.of(examples.classes());
        out.open("ul", "class", "legend");
        examples.pictures().stream()
                .flatMap(List::stream)
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

    /** Writes the labels and what each run has predicted, with how well that agrees. */
    private void write(List<Picture> byRun) throws IOException {
        Picture first = byRun.get(0);
        double agreement = byRun.stream().mapToDouble(Picture::agreement).sum();
        out.open(
                "figure",
                "class",
                "example",
                "data-mistakes",
                Text.format("%.6f", Double.isNaN(agreement) ? -1e9 : -agreement));
        PictureRow row = new PictureRow(out, examples.runs());
        row.open();
        image("Ground truth of " + first.name(), first.truth().read());
        row.closeTruth(first.name());
        for (int run = 0; run < byRun.size(); run++) {
            row.openView();
            image("Prediction for " + first.name(), byRun.get(run).predicted().read());
            row.closePredictions(run, byRun.get(run).tally());
        }
        row.close();
        out.close();
    }

    private void image(String name, byte[] jpeg) {
        String data = "data:image/jpeg;base64," + Base64.getEncoder().encodeToString(jpeg);
        out.empty("img", "src", data, "alt", name);
    }
}
