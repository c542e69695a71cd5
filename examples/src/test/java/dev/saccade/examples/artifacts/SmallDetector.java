package dev.saccade.examples.artifacts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.Libtorch;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.models.Model;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.ScoreThresholds;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A checkpoint with random weights, {@code detector.safetensors}, a photograph, {@code photo.jpg},
 * and what a detector finds on it.
 */
record SmallDetector(Path checkpoint, Path photo) {

    private static final String PARTS =
            """
            backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
            neck: {type: fpn, out_channels: 8}
            head: {type: retinanet, feat_channels: 8, stacked_convs: 1, nms: {score_thr: 0.008}}
            """;

    private static final Pattern LINE =
            Pattern.compile("([ab]) (\\S+) Box\\[x1=(.*), y1=(.*), x2=(.*), y2=(.*)]");

    /** Writes both files. */
    static SmallDetector in(Path folder) throws IOException {
        ModelConfig parts = Configs.bind(ConfigFile.parse(PARTS, "parts"), ModelConfig.class);
        ModelSpec spec =
                new ModelSpec(
                        parts,
                        List.of(Configs.of(Normalize.class), Configs.of(Pad.class)),
                        List.of("a", "b"));
        Path checkpoint = folder.resolve("detector.safetensors");
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            Model<?> model = parts.build(spec.classes());
            model.initialize(manager, 3);
            Map<String, String> metadata = new HashMap<>(spec.toMetadata());
            metadata.putAll(ScoreThresholds.of(0).toMetadata());
            Checkpoints.save(checkpoint, Checkpoint.of(model, metadata));
        }
        SceneDataset.write(folder, new SceneRenderer(1, new Size(64, 96)), 1, 1, n -> {});
        Path photo =
                Files.move(folder.resolve("images/scene_0001.jpg"), folder.resolve("photo.jpg"));
        return new SmallDetector(checkpoint, photo);
    }

    /**
     * Asserts that a program has found what is found here, and printed {@code label score Box[...]}
     * an object a line. Other threads of libtorch sum in another order, so the last digits differ.
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
