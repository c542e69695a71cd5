package dev.saccade.eval.coco;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.datasets.Annotation;
import dev.saccade.eval.MemoryDataset;
import dev.saccade.eval.RandomScene;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.eval.detection.DetectionEvaluator;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

class CocoResultsTest {

    private static final MemoryDataset DATASET =
            new MemoryDataset("a", "b").addImage(7).addImage(3);

    @TempDir Path folder;

    private CocoDetections read(String json, IouType iouType) throws IOException {
        return CocoResults.read(
                Files.writeString(folder.resolve("results.json"), json), DATASET, iouType);
    }

    private void checkFault(String json, IouType iouType, String expected) {
        SaccadeException error = assertThrows(SaccadeException.class, () -> read(json, iouType));
        assertEquals(SaccadeException.Kind.USER, error.kind());
        assertTrue(error.getMessage().contains(expected), error.getMessage());
        assertTrue(error.getMessage().startsWith(folder.toString()), error.getMessage());
    }

    @Test
    void writtenResultsRoundTripExactly() {
        RandomScene scene = new RandomScene();
        Path file = folder.resolve("results.json");
        for (IouType iouType : IouType.values()) {
            CocoDetections written = (iouType == IouType.BOX ? scene.boxes : scene.masks).build();
            CocoResults.write(file, scene.dataset, written, iouType);
            CocoDetections read = CocoResults.read(file, scene.dataset, iouType);
            assertEquals(written.size(), read.size());
            for (int i = 0; i < read.size(); i++) {
                assertEquals(written.imageId(i), read.imageId(i));
                assertEquals(written.label(i), read.label(i));
                assertEquals(written.score(i), read.score(i));
                assertEquals(written.box(i), read.box(i));
                assertEquals(written.mask(i), read.mask(i));
            }
        }
    }

    @Test
    void writesCocoFormat() throws IOException {
        CocoDetections.Builder detections =
                new CocoDetections.Builder()
                        .add(7, 1, new Annotation.Bbox(1.5, 2, 30, 40.25), (double) .1f);
        Path file = folder.resolve("results.json");
        CocoResults.write(file, DATASET, detections.build(), IouType.BOX);
        assertEquals(
                "[{\"image_id\":7,\"category_id\":11,\"bbox\":[1.5,2.0,30.0,40.25],"
                        + "\"score\":0.10000000149011612}]",
                Files.readString(file));
    }

    @Test
    void ignoresKeyOrderAndOtherKeys() throws IOException {
        String json =
                "[{\"score\": 1, \"extra\": {\"a\": [1, {}]}, \"bbox\": [1, 2, 3, 4e0],"
                        + " \"segmentation\": {\"size\": [2, 2], \"counts\": [1, 2, 1]},"
                        + " \"category_id\": 1, \"image_id\": 3}]";
        assertEquals(4, read(json, IouType.BOX).box(0).height());
        Rle mask = read(json, IouType.MASK).mask(0).orElseThrow();
        assertEquals("121", mask.toCompressedString());
        assertEquals(0, read("[]", IouType.BOX).size());
    }

    @Test
    void ids64BitAreExact() throws IOException {
        MemoryDataset dataset = new MemoryDataset("a").addImage(Long.MAX_VALUE).addImage(12);
        CocoDetections.Builder written =
                new CocoDetections.Builder()
                        .add(Long.MAX_VALUE, 0, new Annotation.Bbox(1, 2, 3, 4), .5)
                        .add(12, 0, new Annotation.Bbox(1, 2, 3, 4), .5);
        Path file = folder.resolve("results.json");
        CocoResults.write(file, dataset, written.build(), IouType.BOX);
        String json = Files.readString(file).replace("\"image_id\":12", "\"image_id\":12.0");
        CocoDetections read = CocoResults.read(Files.writeString(file, json), dataset, IouType.BOX);
        assertEquals(Long.MAX_VALUE, read.imageId(0));
        assertEquals(12, read.imageId(1));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "5 | [1,2,3,4] | 1 | image_id 5 is not in the data set",
                "3.5 | [1,2,3,4] | 1 | expected image_id to be an integer, got 3.5",
                "92233720368547758070 | [1,2,3,4] | 1 | integer of at most 64 bits, got 9223",
                "3 | [1,2,3] | 1 | [x, y, width, height], got [1.0, 2.0, 3.0]",
                "3 | [1,2,3,{}] | 1 | expected bbox to be a number, got an object",
                "3 | null | 1 | expected bbox to be an array, got null",
                "3 | [1,2,NaN,4] | 1 | expected finite numbers",
                "3 | [1,2,3,4] | \"high\" | expected score to be a number, got high",
            })
    void errorsHaveTheirLine(String image, String box, String score, String expected) {
        String detection =
                String.format(
                        Locale.ROOT,
                        "{\"image_id\": %s, \"category_id\": 1, \"bbox\": %s, \"score\": %s}",
                        image,
                        box,
                        score);
        checkFault("[\n" + detection + "]", IouType.BOX, expected);
        checkFault("[\n" + detection + "]", IouType.BOX, "detection 0 (line 2, column 1)");
    }

    @Test
    void unknownCategoriesListTheKnownOnes() {
        checkFault(
                "[{\"image_id\":3,\"category_id\":2,\"bbox\":[1,2,3,4],\"score\":1}]",
                IouType.BOX,
                "got category_id 2, expected one of [1, 11]");
    }

    @Test
    void invalidMasksAreReported() {
        String json = "[{\"image_id\":3,\"category_id\":1,\"score\":1,\"segmentation\":%s}]";
        checkFault(String.format(Locale.ROOT, json, "3"), IouType.MASK, "RLE");
        checkFault(String.format(Locale.ROOT, json, "[[1,2,3]]"), IouType.MASK, "polygon");
        checkFault(String.format(Locale.ROOT, json, "[]"), IouType.MASK, "lacks segmentation");
        checkFault(
                String.format(Locale.ROOT, json, "{\"size\":[2,2],\"counts\":\"3\"}"),
                IouType.MASK,
                "cover 3");
        checkFault(
                String.format(Locale.ROOT, json, "{\"size\":[2],\"counts\":\"4\"}"),
                IouType.MASK,
                "[height, width]");
        checkFault(
                String.format(Locale.ROOT, json, "{\"size\":[2,2],\"counts\":[99999999999999]}"),
                IouType.MASK,
                "run 0");
    }

    @Test
    void readsMasksInAnyEncoding() throws IOException {
        List<String> encodings =
                List.of(
                        "[[2, 1, 4, 1, 4, 4, 2, 4]]",
                        "{\"size\": [250, 300], \"counts\": [501, 3, 247, 3, 74246]}",
                        String.format(
                                Locale.ROOT,
                                "{\"size\": [250, 300], \"counts\": \"%s\"}",
                                Rle.fromBox(MemoryDataset.SIZE, 2, 1, 2, 3).toCompressedString()));
        for (String encoding : encodings) {
            String record =
                    "{\"image_id\": 3, \"category_id\": 11, \"score\": 1, \"segmentation\": %s%s}";
            String json =
                    String.format(
                            Locale.ROOT,
                            "[%s, %s]",
                            String.format(
                                    Locale.ROOT, record, encoding, ", \"bbox\": [1, 1, 4, 4]"),
                            String.format(Locale.ROOT, record, encoding, ""));
            CocoDetections read = read(json);
            assertEquals(
                    Rle.fromBox(MemoryDataset.SIZE, 2, 1, 2, 3), read.mask(0).orElseThrow(), json);
            assertEquals(new Annotation.Bbox(1, 1, 4, 4), read.box(0));
            assertEquals(new Annotation.Bbox(2, 1, 2, 3), read.box(1), "bounds of the mask");
        }
    }

    private CocoDetections read(String json) throws IOException {
        return CocoResults.read(Files.writeString(folder.resolve("any.json"), json), DATASET);
    }

    @Test
    void firstDetectionDecidesTheFields() throws IOException {
        String box =
                "{\"image_id\": 3, \"category_id\": 1, \"score\": 1, \"bbox\": [1, 2, 3, 4]%s}";
        String outline = ", \"segmentation\": [[1, 1, 3, 1, 3, 3]]";
        for (String none : List.of("", ", \"segmentation\": []", ", \"segmentation\": null")) {
            String boxes =
                    String.format(
                            Locale.ROOT,
                            "[%s, %s]",
                            String.format(Locale.ROOT, box, none),
                            String.format(Locale.ROOT, box, outline));
            assertFalse(read(boxes).hasMasks());
            String mixed =
                    String.format(
                            Locale.ROOT,
                            "[%s, %s]",
                            String.format(Locale.ROOT, box, outline),
                            String.format(Locale.ROOT, box, none));
            SaccadeException fault = assertThrows(SaccadeException.class, () -> read(mixed));
            assertTrue(fault.getMessage().contains("detection 1 (line 1"), fault.getMessage());
            assertTrue(fault.getMessage().contains("lacks segmentation"), fault.getMessage());
        }
        SaccadeException neither =
                assertThrows(
                        SaccadeException.class,
                        () -> read("[{\"image_id\": 3, \"category_id\": 1, \"score\": 1}]"));
        assertTrue(neither.getMessage().contains("lacks bbox"), neither.getMessage());
    }

    /** As in predictions.json of Ultralytics. */
    @Test
    void readsFileNamesAsImageIds() throws IOException {
        String json =
                "[{\"image_id\": \"%s\", \"category_id\": 1, \"score\": 1, \"bbox\": [1, 2, 3,"
                        + " 4]}]";
        for (String name : List.of("7", "7.png")) {
            assertEquals(7, read(String.format(Locale.ROOT, json, name)).imageId(0));
        }
        SaccadeException fault =
                assertThrows(
                        SaccadeException.class,
                        () -> read(String.format(Locale.ROOT, json, "8.png")));
        assertTrue(fault.getMessage().contains("got 8.png"), fault.getMessage());
    }

    @Test
    void maskMetricsOfAFileEqualPycocotools() {
        RandomScene scene = new RandomScene();
        Path file = folder.resolve("masks.json");
        CocoResults.write(file, scene.dataset, scene.masks.build(), IouType.MASK);
        DetectionEvaluator.Config config =
                new DetectionEvaluator.Config(IouType.MASK, CocoParameters.OFFICIAL_LIMITS);
        DetectionEvaluation evaluation =
                DetectionEvaluation.compute(
                        scene.dataset, CocoResults.read(file, scene.dataset), config, true, 1);
        assertEquals(0.27401180757740545, evaluation.values().get("AP"), 1e-9);
        assertEquals(0.27401180757740545, evaluation.values().get("mask_AP"), 1e-9);
        assertEquals(30, evaluation.predictions().size());
    }

    @Test
    void invalidFilesAreReported() {
        checkFault("[{\"image_id\":3", IouType.BOX, "invalid JSON at line 1");
        checkFault("[\0\0\0{\0\0\0\1\1\1\1", IouType.BOX, "invalid JSON at line 1, column 3");
        checkFault("\n" + "[".repeat(65), IouType.BOX, "invalid JSON at line 2, column 66");
        checkFault(
                "[\n{\"score\":" + "1".repeat(101), IouType.BOX, "invalid JSON at line 2, column");
        checkFault("{}", IouType.BOX, "expected an array of detections, got an object");
        checkFault("", IouType.BOX, "got nothing");
        checkFault("[3]", IouType.BOX, "expected an object, got 3");
        checkFault("[{}]", IouType.BOX, "lacks bbox, category_id, image_id, score");
        checkFault("[" + "{},".repeat(50) + "{}]", IouType.BOX, "stopped after 20 errors");
        assertThrows(
                SaccadeException.class,
                () -> CocoResults.read(folder.resolve("none.json"), DATASET, IouType.BOX));
    }
}
