package dev.saccade.examples.artifacts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;

import dev.saccade.core.structures.Size;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.testsupport.TinyModel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** A checkpoint with random weights, an image, and the detections on it. */
record SmallDetector(Path checkpoint, Path photo) {

    private static final Pattern LINE =
            Pattern.compile("([ab]) (\\S+) Box\\[x1=(.*), y1=(.*), x2=(.*), y2=(.*)]");

    static SmallDetector in(Path folder) throws IOException {
        Path checkpoint =
                TinyModel.RETINANET.save(folder.resolve("detector.safetensors"), List.of("a", "b"));
        SceneDataset.write(folder, new SceneRenderer(1, new Size(64, 96)), 1, 1, n -> {});
        Path photo =
                Files.move(folder.resolve("images/scene_0001.jpg"), folder.resolve("photo.jpg"));
        return new SmallDetector(checkpoint, photo);
    }

    /**
     * Asserts that the output has a line {@code label score Box[...]} for each detection. The last
     * digits may differ, because the number of threads changes the order of sums.
     */
    void assertFound(String printed) {
        List<DetectedObject> expected;
        try (Detector detector = Detector.load(checkpoint, Device.cpu())) {
            expected = detector.detect(photo);
        }
        List<MatchResult> lines = LINE.matcher(printed).results().toList();
        assertFalse(expected.isEmpty(), "nothing is found, which proves nothing");
        assertEquals(expected.size(), lines.size(), printed);
        for (MatchResult line : lines) {
            assertTrue(
                    expected.stream().anyMatch(object -> isSame(object, line)),
                    () -> line.group() + " is none of " + expected);
        }
    }

    private static boolean isSame(DetectedObject object, MatchResult line) {
        double[] numbers = {
            object.score(),
            object.box().x1(),
            object.box().y1(),
            object.box().x2(),
            object.box().y2()
        };
        return line.group(1).equals(object.label())
                && IntStream.range(0, numbers.length)
                        .allMatch(
                                i ->
                                        Math.abs(Double.parseDouble(line.group(2 + i)) - numbers[i])
                                                < 1e-3);
    }
}
