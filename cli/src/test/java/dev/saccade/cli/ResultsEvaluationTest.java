package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.Text;
import dev.saccade.datasets.image.OpenCv;

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

/** Evaluates results of other tools. */
class ResultsEvaluationTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int OBJECTS = 240;

    @TempDir Path folder;

    /**
     * Writes annotations of two images with 240 objects each; half of the second image is detected.
     */
    private Path annotations(String name) throws IOException {
        List<String> objects = new ArrayList<>();
        for (int image = 1; image <= 2; image++) {
            for (int i = 0; i < OBJECTS; i++) {
                objects.add(
                        Text.format(
                                "{\"id\": %d, \"image_id\": %d, \"category_id\": 7, \"bbox\": [%s],"
                                        + " \"area\": 64, \"iscrowd\": 0}",
                                image * 1000 + i, image, box(i)));
            }
        }
        return Files.writeString(
                folder.resolve(name),
                Text.format(
                        "{\"images\": [{\"id\": 1, \"file_name\": \"/cam/a.png\", \"width\": 320,"
                                + " \"height\": 240}, {\"id\": 2, \"file_name\": \"../b.png\","
                                + " \"width\": 320, \"height\": 240}], \"categories\": [{\"id\": 7,"
                                + " \"name\": \"dot\"}], \"annotations\": [%s]}",
                        String.join(",", objects)));
    }

    private static String box(int i) {
        return Text.format("%d, %d, 8, 8", i % 20 * 16, i / 20 * 20);
    }

    private Path results(int ofFirst, int ofSecond) throws IOException {
        List<String> records = new ArrayList<>();
        for (int i = 0; i < ofFirst + ofSecond; i++) {
            int image = i < ofFirst ? 1 : 2;
            records.add(
                    Text.format(
                            "{\"image_id\": %d, \"category_id\": 7, \"bbox\": [%s], \"score\": 0.9}",
                            image, box(i < ofFirst ? i : i - ofFirst)));
        }
        return Files.writeString(
                folder.resolve("results.json"), "[" + String.join(",\n", records) + "]");
    }

    private static double ap(CommandResult ended) throws IOException {
        assertEquals(0, ended.code(), ended.err());
        return JSON.readTree(ended.out()).path("metrics").path("AP").asDouble();
    }

    @Test
    void apCountsAllObjectsOfDenseImagesWithMaxDets() throws IOException {
        Path annotations = annotations("instances.json");
        Path results = results(OBJECTS, OBJECTS);
        CommandResult official =
                saccade("eval", "--results", results, "--annotations", annotations, "--json");
        assertEquals(42 / 101.0, ap(official), 1e-9, "200 of 480 are counted");
        assertTrue(official.err().contains("240 objects of one class"), official.err());
        assertTrue(official.err().contains("max_dets=[1,10,240]"), official.err());

        CommandResult all =
                saccade(
                        "eval",
                        "--results",
                        results,
                        "--annotations",
                        annotations,
                        "--max-dets",
                        "1,10,240",
                        "--json");
        assertEquals(1, ap(all), 1e-9);
        assertEquals("", all.err());
        JsonNode json = JSON.readTree(all.out());
        assertEquals(1, json.path("metrics").path("AR@240").asDouble());
        assertEquals(1, json.path("scores").path("all").path("f1").asDouble());
    }

    @Test
    void fractionsAndPercentagesAreNoted() throws IOException {
        Path results =
                Files.writeString(
                        folder.resolve("fractions.json"),
                        "[{\"image_id\": 1, \"category_id\": 7, \"bbox\": [0.1, 0.2, 0.3, 0.4],"
                                + " \"score\": 90}]");
        CommandResult ended =
                saccade(
                        "eval",
                        "--results",
                        results,
                        "--annotations",
                        annotations("instances.json"));
        assertEquals(0, ended.code(), ended.err());
        assertTrue(ended.err().contains("expected bbox in pixels"), ended.err());
        assertTrue(ended.err().contains("scores are up to 90"), ended.err());
    }

    @Test
    void checkWarnsAboutDenseImagesAndNewRaisesTheLimits() throws IOException {
        Path data = Files.createDirectories(folder.resolve("dense"));
        String annotations = Files.readString(annotations("instances.json"));
        Files.writeString(
                data.resolve("annotations_train.json"),
                annotations.replace("/cam/a", "images/a").replace("../b", "images/b"));
        OpenCv.load();
        for (String name : List.of("a.png", "b.png")) {
            Mat image = new Mat(240, 320, CvType.CV_8UC3, new Scalar(3, 90, 200));
            ImageFiles.write(image, data.resolve("images").resolve(name));
            image.release();
        }
        CommandResult checked = saccade("check", data);
        assertTrue(checked.out().contains("an image has 240 objects"), checked.out());

        Path config = folder.resolve("dense.yaml");
        CommandResult created = saccade("new", data, "--out", config);
        assertEquals(0, created.code(), created.err());
        assertTrue(created.err().contains("240 objects"), created.err());
        String yaml = Files.readString(config);
        assertTrue(yaml.contains("max_per_img: 400"), yaml);
        assertTrue(yaml.contains("max_dets: [1, 10, 400]"), yaml);
        CommandResult fitting = saccade("check", config);
        assertFalse(fitting.out().contains("240 objects"), fitting.out());
        CommandResult low = saccade("check", config, "--set", "model.head.nms.max_per_img=200");
        assertTrue(
                low.out().contains("model.head.nms.max_per_img limits detections to 200"),
                low.out());
    }

    @Test
    void imagesWithoutResultsCountAsMissedAndAreReported() throws IOException {
        CommandResult half =
                saccade(
                        "eval",
                        "--results",
                        results(OBJECTS, 0),
                        "--annotations",
                        annotations("instances.json"),
                        "--max-dets",
                        "500",
                        "--json");
        assertEquals(51 / 101.0, ap(half), 1e-9);
        assertTrue(half.err().contains("1 of 2 images have no results"), half.err());
        assertTrue(half.err().contains("[2]"), half.err());
    }

    @Test
    void tablesAreThoseOfARun() throws IOException {
        CommandResult ended =
                saccade(
                        "eval",
                        "--results",
                        results(OBJECTS, OBJECTS),
                        "--annotations",
                        annotations("instances.json"));
        for (String head : List.of("AR@100", "AP50", "all classes", "missed")) {
            assertTrue(ended.out().contains(head), ended.out());
        }
    }

    @Test
    void faultyResultsAreReportedTogether() throws IOException {
        Path annotations = annotations("instances.json");
        Path results =
                Files.writeString(
                        folder.resolve("bad.json"),
                        "[{\"image_id\": 1, \"category_id\": 7, \"bbox\": [1, 2, 3, 4], \"score\":"
                                + " 1},\n{\"image_id\": 9, \"category_id\": 7, \"bbox\": [1, 2, 3, 4],"
                                + " \"score\": 1},\n{\"image_id\": 1, \"category_id\": 1, \"bbox\": [1,"
                                + " 2, 3, 4], \"score\": 1},\n"
                                + "{\"image_id\": 1, \"category_id\": 7, \"bbox\": [1, 2, 3, 4]}]");
        CommandResult ended = saccade("eval", "--results", results, "--annotations", annotations);
        assertEquals(2, ended.code());
        for (String fault :
                List.of(
                        "detection 1 (line 2, column 1): image_id 9",
                        "detection 2 (line 3, column 1): got category_id 1",
                        "detection 3 (line 4, column 1): lacks score")) {
            assertTrue(ended.err().contains(fault), ended.err());
        }
    }

    @Test
    void mistakenOptionsAreReported() throws IOException {
        Path annotations = annotations("instances.json");
        Path results = results(1, 1);
        checkFault("needs --results", "--annotations", annotations);
        checkFault("expected a RUN, or --results and --annotations", "--results", results);
        checkFault(
                "--flip needs a RUN", "--results", results, "--annotations", annotations, "--flip");
        checkFault(
                "ascending",
                "--results",
                results,
                "--annotations",
                annotations,
                "--max-dets",
                "100,10");
        checkFault("no such file", "--results", folder.resolve("x"), "--annotations", annotations);
        checkFault("two folders of label maps", "--results", folder, "--annotations", annotations);
    }

    private static void checkFault(String expected, Object... options) {
        List<Object> arguments = new ArrayList<>(List.of("eval"));
        arguments.addAll(List.of(options));
        CommandResult ended = saccade(arguments.toArray());
        assertEquals(2, ended.code(), ended.err());
        assertTrue(ended.err().contains(expected), ended.err());
        assertFalse(ended.err().contains("\tat "), ended.err());
    }

    /** Writes a label map of four columns. */
    private void map(String name, int... columns) {
        OpenCv.load();
        Mat map = new Mat(2, columns.length, CvType.CV_8UC1);
        for (int i = 0; i < columns.length; i++) {
            map.col(i).setTo(new Scalar(columns[i]));
        }
        ImageFiles.write(map, folder.resolve(name));
        map.release();
    }

    private JsonNode labelMaps(String note, Object... options) throws IOException {
        List<Object> arguments =
                new ArrayList<>(
                        List.of(
                                "eval",
                                "--results",
                                folder.resolve("found"),
                                "--annotations",
                                folder.resolve("labels"),
                                "--json"));
        arguments.addAll(List.of(options));
        CommandResult ended = saccade(arguments.toArray());
        assertEquals(0, ended.code(), ended.err());
        assertTrue(ended.err().contains(note), ended.err());
        return JSON.readTree(ended.out());
    }

    @Test
    void labelMapsAreComparedPixelByPixel() throws IOException {
        map("labels/city/a.png", 0, 0, 1, 255);
        map("found/city/a.png", 0, 1, 1, 1);
        JsonNode measured = labelMaps("0 is a class");
        assertEquals(.5, measured.path("metrics").path("mIoU").asDouble(), 1e-9);
        assertEquals(2 / 3.0, measured.path("metrics").path("aAcc").asDouble(), 1e-9);
        assertEquals(2, measured.path("classes").size());

        map("labels/b.png", 1, 1, 1, 1);
        Files.writeString(folder.resolve("classes.txt"), "road\ncar\n");
        JsonNode named = labelMaps("1 of 2 label maps have no results");
        assertEquals(.5, named.path("metrics").path("mIoU").asDouble(), 1e-9);
        assertEquals("car", named.path("confusion").path("classes").path(1).asText());
    }

    /** Like predict, counts classes from 1. */
    @Test
    void zeroThatIsNeverPredictedMeansNoClass() throws IOException {
        map("labels/a.png", 0, 1, 2, 2);
        map("found/a.png", 1, 1, 2, 1);
        JsonNode measured = labelMaps("0 means no class");
        assertEquals(.5, measured.path("metrics").path("mIoU").asDouble(), 1e-9);
        assertEquals(2, measured.path("classes").size());
        JsonNode whole = labelMaps("", "--no-reduce-zero-label");
        assertEquals(3, whole.path("classes").size());
        assertEquals(.5, whole.path("metrics").path("aAcc").asDouble(), 1e-9);
    }

    @Test
    void faultyLabelMapsAreReported() {
        map("labels/a.png", 0, 1, 2, 2);
        map("found/a.png", 1, 1, 2);
        Object[] folders = {
            "--results", folder.resolve("found"), "--annotations", folder.resolve("labels")
        };
        checkFault("a.png", folders);
        map("found/other.png", 1, 1, 2, 2);
        checkFault("no annotation of the same name", folders);
    }
}
