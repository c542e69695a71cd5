package dev.saccade.report;

import com.google.common.io.ByteSource;

import dev.saccade.models.draw.ClassColors;

import java.io.IOException;
import java.util.Base64;
import java.util.List;
import java.util.stream.IntStream;

/** Shows images with the colors of their classes. */
final class SegmentationExampleWriter extends ExampleWriter {

    SegmentationExampleWriter(Markup out, Examples examples) {
        super(out, examples);
    }

    @Override
    void writeLead(String zoom) {
        String lead = "Ground truth first, then the prediction. Unlabeled pixels have no color. ";
        out.leaf("p", lead + zoom, "class", "lead");
    }

    @Override
    void writeLegend() {
        IntStream labels =
                examples.pictures().stream()
                        .flatMap(List::stream)
                        .flatMap(example -> ((SegmentationExample) example).labels().stream())
                        .mapToInt(Integer::intValue);
        List<Integer> colors = ClassColors.of(examples.classes());
        writeClasses(labels, colors::get);
    }

    @Override
    void writeTruth(Example example, String id) throws IOException {
        SegmentationExample labeled = (SegmentationExample) example;
        write("Ground truth of " + labeled.name(), labeled.truth());
    }

    @Override
    void writePredictions(Example example, String id) throws IOException {
        SegmentationExample labeled = (SegmentationExample) example;
        write("Prediction for " + labeled.name(), labeled.predicted());
    }

    private void write(String name, ByteSource jpeg) throws IOException {
        String data = Base64.getEncoder().encodeToString(jpeg.read());
        out.empty("img", "src", "data:image/jpeg;base64," + data, "alt", name);
    }
}
