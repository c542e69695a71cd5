package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.nn.Quantization;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.OpenCv;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Commands with a segmenter. */
class SegmentationTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path BASE = Path.of("..", "configs", "_base_").toAbsolutePath();
    private static final Size SIZE = new Size(48, 64);
    private static final List<String> CLASSES = List.of("sky", "road", "car");

    @TempDir static Path shared;
    @TempDir Path folder;

    @BeforeAll
    static void write() throws IOException {
        write(shared.resolve("roads"));
        Files.writeString(
                shared.resolve("tiny.yaml"),
                """
                base: ['BASE/models/semantic_fpn.yaml', 'BASE/datasets/camvid.yaml']
                model:
                  backbone: {depth: 18, base_channels: 4, stem_channels: 4}
                  neck: {out_channels: 8}
                  head: {channels: 8}
                data:
                  train_transforms: [{type: random_flip}, {type: normalize}, {type: pad}]
                  val_transforms: [{type: resize, scales: [[64, 48]]}, {type: normalize}]
                  batch_size: 2
                epochs: 2
                log_interval: 1
                """
                        .replace("BASE", BASE.toString()));
    }

    /** Writes images of a sky over a road with a car, with some unlabeled pixels. */
    private static void write(Path data) throws IOException {
        OpenCv.load();
        Files.createDirectories(data);
        Files.writeString(data.resolve("classes.txt"), String.join("\n", CLASSES));
        for (int i = 0; i < 6; i++) {
            short[] labels = new short[(int) SIZE.area()];
            Mat image = new Mat(SIZE.height(), SIZE.width(), CvType.CV_8UC3, new Scalar(0, 0, 0));
            for (int y = 0; y < SIZE.height(); y++) {
                for (int x = 0; x < SIZE.width(); x++) {
                    boolean car = y > 24 && y < 40 && x > 8 * i && x < 8 * i + 16;
                    int label = y < 4 ? LabelMap.IGNORE : car ? 2 : y < 20 ? 0 : 1;
                    labels[y * SIZE.width() + x] = (short) label;
                    image.put(y, x, car ? 20 : 200, y < 20 ? 200 : 90, car ? 220 : 60);
                }
            }
            String part = i < 4 ? "training" : "validation";
            String name = "road" + i;
            ImageFiles.write(image, data.resolve("images").resolve(part).resolve(name + ".jpg"));
            ImageFiles.writeLabels(
                    LabelMap.of(SIZE, labels),
                    CLASSES.size(),
                    data.resolve("annotations").resolve(part).resolve(name + ".png"));
            image.release();
        }
    }

    private static CommandResult onRoads(String command, Path data, Object... more) {
        List<Object> args = new ArrayList<>(List.of(command, shared.resolve("tiny.yaml")));
        args.addAll(List.of("--data", data));
        args.addAll(List.of(more));
        return saccade(args.toArray());
    }

    @Test
    void trainsReportsResumesEvaluatesAndPredicts() throws IOException {
        Path run = folder.resolve("run");
        CommandResult trained = onRoads("train", shared.resolve("roads"), "--out", run);
        assertEquals(0, trained.code(), trained.err());
        assertTrue(trained.out().contains("boundary_mIoU"), trained.out());
        assertTrue(trained.err().contains("report: " + run.resolve("report.html")), trained.err());
        assertTrue(
                Pattern.compile("step \\d+:  mIoU ").matcher(trained.err()).find(), trained.err());
        String report = Files.readString(run.resolve("report.html"));
        assertEquals(4, report.split("<img src=\"data:image/jpeg;base64,", -1).length - 1);
        for (String shown :
                List.of(
                        "<dt>mIoU</dt>",
                        "% of pixels correct",
                        "Predicted as",
                        "Validation metrics")) {
            assertTrue(report.contains(shown), shown);
        }
        CommandResult resumed =
                onRoads(
                        "train",
                        shared.resolve("roads"),
                        "--out",
                        run,
                        "--resume",
                        "--set",
                        "epochs=3");
        assertEquals(0, resumed.code(), resumed.err());

        measures(run);
        refusesOptionsOfDetectors(run);
        predicts(run);
        quantizes(run);
    }

    private static void quantizes(Path run) throws IOException {
        if (Quantization.isFast()) {
            CommandResult output = saccade("quantize", run, "--max-drop", "1", "--json");
            assertEquals(0, output.code(), output.err());
            JsonNode result = JSON.readTree(output.out());
            JsonNode metrics = result.path("models").path("quantized").path("metrics");
            assertTrue(metrics.path("mIoU").isNumber(), output.out());
            assertTrue(result.path("quantized_layers").size() > 5, output.out());
        }
    }

    private static void measures(Path run) throws IOException {
        JsonNode measured = JSON.readTree(saccade("eval", run, "--json").out());
        assertTrue(measured.path("metrics").path("mIoU").asDouble(-1) >= 0, measured.toString());
        assertEquals(3, measured.path("classes").size());
        assertEquals("car", measured.path("confusion").path("classes").path(2).asText());
        long counted = 0;
        for (JsonNode row : measured.path("confusion").path("counts")) {
            for (JsonNode cell : row) {
                counted += cell.asLong();
            }
        }
        assertEquals(2 * (48 - 4) * 64, counted, "all pixels but the ignored");
        CommandResult augmented = saccade("eval", run, "--scales", "64x48,96x72", "--flip");
        assertEquals(0, augmented.code(), augmented.err());
        assertTrue(augmented.out().contains("predicted as"), augmented.out());
    }

    private static void refusesOptionsOfDetectors(Path run) {
        CommandResult eval =
                saccade("eval", run, "--score", "0.3", "--box-areas", "--results", "found");
        assertEquals(2, eval.code());
        for (String option : List.of("--score", "--box-areas", "--results")) {
            assertTrue(eval.err().contains(option + " applies to detectors only"), eval.err());
        }
        CommandResult predict = saccade("predict", run, run, "--score", "0.3");
        assertEquals(2, predict.code(), predict.err());
    }

    private void predicts(Path run) throws IOException {
        Path photos = shared.resolve("roads/images/validation");
        Path out = folder.resolve("found");
        CommandResult predicted = saccade("predict", run, photos, "--out", out, "--json");
        assertEquals(0, predicted.code(), predicted.err());
        JsonNode output = JSON.readTree(out.resolve("predictions.json").toFile());
        assertEquals(output, JSON.readTree(predicted.out()));
        assertEquals(2, output.size());
        for (JsonNode entry : output) {
            assertTrue(Files.exists(out.resolve(entry.path("picture").asText())));
            assertTrue(Files.exists(out.resolve(entry.path("labels").asText())));
            JsonNode regions = entry.path("regions");
            long pixels = 0;
            double share = 0;
            long last = Long.MAX_VALUE;
            for (JsonNode region : regions) {
                assertTrue(CLASSES.contains(region.path("label").asText()), regions.toString());
                assertTrue(region.path("pixels").asLong() <= last, regions.toString());
                last = region.path("pixels").asLong();
                pixels += last;
                share += region.path("fraction").asDouble();
            }
            assertEquals(48 * 64, pixels);
            assertEquals(1, share, 1e-9);
        }
        assertTrue(Files.size(out.resolve("road4.jpg")) > 0);

        Path again = folder.resolve("again");
        copy(photos, again.resolve("images/training"));
        copy(photos, again.resolve("images/validation"));
        copy(out.resolve("labels"), again.resolve("annotations/training"));
        copy(out.resolve("labels"), again.resolve("annotations/validation"));
        Files.writeString(again.resolve("classes.txt"), String.join("\n", CLASSES));
        JsonNode checked = JSON.readTree(onRoads("check", again, "--json").out());
        for (Map.Entry<String, JsonNode> role :
                List.of(
                        Map.entry("train", checked.path("train")),
                        Map.entry("val", checked.path("val")))) {
            assertEquals(0, role.getValue().path("errors").asInt(-1), checked.toString());
            JsonNode held = role.getValue().path("statistics");
            assertEquals(0, held.path("ignored").asInt(-1));
            for (JsonNode region : output.path(photos.resolve("road4.jpg").toString())) {
                String label = region.path("label").asText();
                assertTrue(
                        held.path("classes").path(label).path("pixels").asLong()
                                >= region.path("pixels").asLong(),
                        held.toString());
            }
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    @Test
    void writesAugmentedSamples() throws IOException {
        Path out = folder.resolve("browse");
        CommandResult ended =
                onRoads("browse", shared.resolve("roads"), "--out", out, "--count", "3");
        assertEquals(0, ended.code(), ended.err());
        for (String name : Set.of("road0.jpg", "road1.jpg", "road2.jpg")) {
            assertTrue(Files.size(out.resolve(name)) > 0, name);
        }
    }

    @Test
    void unknownLabelStopsTrainingBeforeItStarts() throws IOException {
        Path roads = folder.resolve("roads");
        write(roads);
        Path labels = roads.resolve("annotations/training/road2.png");
        ImageFiles.writeLabels(LabelMap.filled(SIZE, 6), 7, labels);
        Path run = folder.resolve("run");
        CommandResult ended = onRoads("train", roads, "--out", run);
        assertEquals(2, ended.code());
        assertTrue(ended.err().contains("road2.png: value 7 in 3072 pixels"), ended.err());
        assertFalse(Files.exists(run));
    }

    @Test
    void rejectsValidationSetWithOtherClasses() {
        CommandResult checked =
                onRoads(
                        "check",
                        shared.resolve("roads"),
                        "--set",
                        "data.val.classes_file=null",
                        "--set",
                        "data.val.classes=[sky, street, car]");
        assertEquals(2, checked.code(), checked.err());
        String message =
                "data.val: lacks the class \"road\" of data.train and has the class"
                        + " \"street\", which data.train lacks";
        assertTrue(checked.out().contains(message), checked.out());
        CommandResult fewer =
                onRoads(
                        "check",
                        shared.resolve("roads"),
                        "--set",
                        "data.train.classes_file=null",
                        "--set",
                        "data.train.classes=[sky, road, car, tree]");
        assertTrue(
                fewer.out().contains("data.val: lacks the class \"tree\" of data.train; use"),
                fewer.out());
    }
}
