package dev.saccade.datasets.coco;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Splitter;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.image.ImageFiles;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

class CocoCheckTest {

    private final List<String> images = new ArrayList<>();
    private final List<String> annotations = new ArrayList<>();
    private final List<String> categories =
            new ArrayList<>(List.of("{'id': 1, 'name': 'cat'}", "{'id': 2, 'name': 'dog'}"));

    @TempDir Path folder;

    @Test
    void countsObjectsOfAValidDataSetWithoutFindings() throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        addImage(2, "b.png", ImageFiles.png(30, 40, BufferedImage.TYPE_BYTE_INDEXED), 30, 40);
        addAnnotation(1, 1, "[1, 2, 5, 6]", "'area': 30");
        addAnnotation(2, 1, "[0, 0, 40, 30]", "'area': 100, 'iscrowd': 1");
        DatasetReport report = check(true);
        assertEquals(List.of(), report.findings());
        assertEquals(0, report.errors() + report.warnings());
        ObjectStatistics statistics = (ObjectStatistics) report.statistics();
        assertEquals(2, statistics.images());
        assertEquals(1, statistics.imagesWithoutBoxes());
        assertEquals(2, statistics.objects().boxes());
        assertEquals(1, statistics.objects().crowds());
        assertEquals(Map.of("cat", 2, "dog", 0), statistics.boxesPerClass());
        assertEquals(1, statistics.boxesPerSize().get("below 8 px"));
        assertEquals(1, statistics.boxesPerSize().get("below 64 px"));
        assertEquals(8, statistics.boxesPerSize().size());
    }

    @Test
    void findsAllFaultsOfImagesInOnePass() throws IOException {
        byte[] jpeg = ImageFiles.jpeg(40, 30);
        byte[] damaged = ImageFiles.png(40, 30, BufferedImage.TYPE_3BYTE_BGR);
        damaged[damaged.length / 2] ^= 0x55;
        byte[] html = "<!DOCTYPE html>".getBytes(StandardCharsets.US_ASCII);
        addImage(1, "empty.jpg", new byte[0], 40, 30);
        addImage(2, "page.jpg", html, 40, 30);
        addImage(3, "cut.jpg", Arrays.copyOf(jpeg, jpeg.length - 20), 40, 30);
        addImage(4, "bomb.png", ImageFiles.pngThatClaims(100_000, 100_000), 100_000, 100_000);
        addImage(5, "turned.jpg", ImageFiles.withOrientation(jpeg, 6), 40, 30);
        addImage(6, "named.png", jpeg, 40, 30);
        addImage(7, "other.jpg", jpeg, 41, 30);
        addImage(8, "inks.jpg", ImageFiles.cmykJpeg(40, 30, 9), 40, 30);
        addImage(9, "deep.png", ImageFiles.png(40, 30, BufferedImage.TYPE_USHORT_GRAY), 40, 30);
        addImage(10, "damaged.png", damaged, 40, 30);
        images.add(image(11, "missing.jpg", 40, 30));
        images.add(image(12, "../outside.jpg", 40, 30));
        addImage(13, "flipped.jpg", ImageFiles.withOrientation(jpeg, 3), 40, 30);

        assertFindings(
                check(true),
                "image 12: file_name \"../outside.jpg\" is outside the image folder",
                "empty.jpg: image 1: is empty (0 bytes)",
                "page.jpg: image 2: is not an image, it starts with \"<!DOCTYPE html>\"",
                "cut.jpg: image 3: JPEG is truncated",
                "bomb.png: image 4: PNG of 100000x100000 pixels exceeds the limit of 178 million",
                "turned.jpg: image 5: is 40x30 (height x width), declared as 30x40; the boxes"
                        + " refer to the image without EXIF",
                "named.png: image 6: is a JPEG file, but has another suffix",
                "other.jpg: image 7: is 30x40 (height x width), declared as 30x41",
                "inks.jpg: image 8: is CMYK",
                "deep.png: image 9: has more than 8 bits",
                "damaged.png: image 10: PNG is damaged",
                "missing.jpg: image 11: no such file",
                "flipped.jpg: image 13: has EXIF orientation 3");
    }

    @Test
    void findsAllFaultsOfAnnotationsInOnePass() throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        addImage(1, "b.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        addAnnotation(1, 1, "[1, 2, 5, 6]", "'area': 30");
        addAnnotation(1, 1, "[1, 2, 5, 6]", "'area': 30");
        addAnnotation(2, 9, "[1, 2, 5, 6]", "'area': 30");
        addAnnotation(3, 1, "[1, NaN, 5, 6]", "'area': 30");
        addAnnotation(4, 1, "[1, 2, 0, 6]", "'area': 30");
        addAnnotation(5, 1, "[1, 2, -5, 6]", "'area': 30");
        addAnnotation(6, 1, "[1, 2, 0.5, 6]", "'area': 30");
        addAnnotation(7, 1, "[50, 2, 5, 6]", "'area': 30");
        addAnnotation(8, 1, "[30, 2, 20, 6]", "'area': 30");
        addAnnotation(9, 1, "[1, 2, 5, 6]", "'area': 0");
        String sound = "[1, 2, 5, 6]";
        addAnnotation(10, 1, sound, outline("[[1, 1, 5, 1]]"));
        addAnnotation(11, 1, sound, outline("[[1, 1, 5, 1, 5]]"));
        addAnnotation(12, 1, sound, outline("[[1, 1, 5, NaN, 5, 5]]"));
        addAnnotation(13, 1, sound, outline("{'size': [30, 40], 'counts': [1, 2, 3]}"));
        addAnnotation(14, 1, sound, outline("{'size': [30, 40], 'counts': [1300, -100]}"));
        addAnnotation(15, 1, sound, outline("{'size': [40, 30], 'counts': [1200]}"));
        addAnnotation(16, 1, sound, outline("{'size': [30, 40], 'counts': '~~~'}"));
        addAnnotation(17, 1, sound, outline("{'size': [30, 40], 'counts': [1200]}"));
        addAnnotation(18, 1, sound, outline("{'size': [30], 'counts': 'x'}"));
        addAnnotation(19, 1, sound, outline("{'size': [30, 40], 'counts': [1e15, 2]}"));
        addAnnotation(20, 1, "'box'", "'area': 9");
        addAnnotation(21, 1, sound, outline("[[6, 2, 9, 2, 9, 8, 6, 8]]"));

        assertFindings(
                check(false),
                "annotation 18: run lengths need a valid size and counts",
                "annotation 20: bbox: expected an array of numbers, got \"box\"",
                "image 1: id occurs twice",
                "annotation 1: id occurs twice",
                "annotation 2: refers to image 9, which does not exist",
                "annotation 3: bbox [1.0, NaN, 5.0, 6.0] is not finite",
                "annotation 4 of image 1 (a.jpg): bbox [1.0, 2.0, 0.0, 6.0] has no area",
                "annotation 5 of image 1 (a.jpg): bbox [1.0, 2.0, -5.0, 6.0] has no area",
                "annotation 6 of image 1 (a.jpg): bbox [1.0, 2.0, 0.5, 6.0] is thinner than",
                "annotation 7 of image 1 (a.jpg): bbox [50.0, 2.0, 5.0, 6.0] lies outside of the"
                        + " image of 40x30",
                "annotation 8 of image 1 (a.jpg): bbox [30.0, 2.0, 20.0, 6.0] exceeds the image of 40x30",
                "annotation 9 of image 1 (a.jpg): area is 0.0",
                "annotation 10 of image 1 (a.jpg): segmentation: ",
                "annotation 11 of image 1 (a.jpg): segmentation: ",
                "annotation 12 of image 1 (a.jpg): segmentation: ",
                "annotation 13 of image 1 (a.jpg): segmentation: ",
                "annotation 14 of image 1 (a.jpg): segmentation: ",
                "annotation 15 of image 1 (a.jpg): segmentation: run lengths encode a mask of 30x40",
                "annotation 16 of image 1 (a.jpg): segmentation: ",
                "annotation 17 of image 1 (a.jpg): segmentation covers no pixel",
                "annotation 19 of image 1 (a.jpg): segmentation: ",
                "annotation 21 of image 1 (a.jpg): segmentation lies outside of bbox [1.0, 2.0,"
                        + " 5.0, 6.0], so its mask is empty");
    }

    @Test
    void requiresOutlinesOfObjectsWithTrainedMasks() throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        addAnnotation(1, 1, "[1, 2, 5, 6]", outline("[[1, 2, 6, 2, 6, 8, 1, 8]]"));
        addAnnotation(2, 1, "[1, 2, 5, 6]", "'area': 30");
        addAnnotation(3, 1, "[1, 2, 5, 6]", outline("[]"));
        addAnnotation(4, 1, "[1, 2, 5, 6]", "'area': 30, 'iscrowd': 1");
        addAnnotation(5, 1, "[1, 2, 5, 6]", "'area': 30, 'ignore': 1");
        assertFindings(check(false));
        assertFindings(checkMasks("dog"));
        assertFindings(
                checkMasks("cat"),
                "a.json: annotation 2 of image 1 (a.jpg): has no segmentation, but the model trains"
                        + " on masks; add it",
                "a.json: annotation 3 of image 1 (a.jpg): has no segmentation");
    }

    @Test
    void reportsMissingOutlinesInOneLine() throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        addAnnotation(1, 1, "[1, 2, 5, 6]", "'area': 30");
        addAnnotation(2, 1, "[1, 2, 5, 6]", "'area': 30");
        assertFindings(checkMasks(), "no object has a segmentation, but the model trains on masks");
    }

    @Test
    void detectsCornersInsteadOfWidthAndHeight() throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        addAnnotation(1, 1, "[25, 10, 35, 28]", "'area': 30");
        addAnnotation(2, 1, "[5, 10, 15, 28]", "'area': 30");
        addAnnotation(3, 1, "[22, 1, 38, 15]", "'area': 30");
        assertFindings(check(false), "the bboxes appear to be [x1, y1, x2, y2]");
    }

    @Test
    void detectsFractionsInsteadOfPixels() throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        addAnnotation(1, 1, "[0.5, 0.4, 0.9, 0.3]", "'area': 0.27");
        addAnnotation(2, 1, "[0.25, 0.5, 0.2, 1.0]", "'area': 0.2");
        assertFindings(
                check(false),
                "a.json: the bboxes are fractions of their images, such as [0.5000, 0.4000, 0.9000,"
                        + " 0.3000], apparently YOLO's [center x, center y, width, height];"
                        + " expected [x, y, width, height] in pixels");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[1, 2, 5, 6] | 'area': 0 | training uses only 0 of 3 objects; the rest are with a"
                        + " stated area of 0 (3); the first dropped object is annotation 1 of image 1",
                "[1, 2, 5, 6] | 'iscrowd': 1 | training uses only 0 of 3 objects; the rest are"
                        + " crowds (3)",
                "[1, 2, 5, 6] | 'ignore': 1 | the rest are marked as ignored (3)",
                "[1, 2, 0, 6] | 'iscrowd': 0 | the rest are without width or height (3)",
                "[50, 2, 5, 6] | 'iscrowd': 0 | the rest are outside of their images (3)",
                "[1, 2, 0.5, 6] | 'iscrowd': 0 | the rest are thinner than a pixel (3)",
            })
    void wantsObjectsThatAreLeftToLearn(String box, String more, String expected)
            throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        for (int id = 1; id <= 3; id++) {
            addAnnotation(id, 1, box, more);
        }
        DatasetReport report = check(false);
        assertEquals(1, report.errors());
        Finding first = report.findings().get(0);
        assertEquals(Finding.Severity.ERROR, first.severity());
        assertTrue(first.message().contains(expected), first.message());
        assertEquals(0, ((ObjectStatistics) report.statistics()).objects().usable());
    }

    @Test
    void itIsAnErrorIfMoreThanHalfOfTheObjectsAreDropped() throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        addAnnotation(1, 1, "[1, 2, 5, 6]", "'area': 30");
        addAnnotation(2, 1, "[1, 2, 0, 6]", "'area': 30");
        for (int id = 3; id < 20; id++) {
            addAnnotation(id, 1, "[1, 2, 5, 6]", "'area': 30, 'iscrowd': 1");
        }
        assertEquals(0, check(false).errors(), "crowds are meant to be passed over");
        addAnnotation(20, 1, "[50, 2, 5, 6]", "'area': 30");
        assertFindings(
                check(false),
                "training uses only 1 of 20 objects; the rest are crowds (17), without width or"
                        + " height (1), outside of their images (1); the first dropped object is annotation 2",
                "annotation 2",
                "annotation 20");
    }

    @Test
    void itIsAnErrorIfMostOutlinesCoverNoPixel() throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        addAnnotation(1, 1, "[1, 2, 5, 6]", outline("[[0.1, 0.1, 0.3, 0.1, 0.3, 0.3]]"));
        addAnnotation(2, 1, "[1, 2, 5, 6]", outline("[[0.2, 0.1, 0.3, 0.1, 0.3, 0.3]]"));
        addAnnotation(3, 1, "[1, 2, 5, 6]", outline("[[1, 2, 6, 2, 6, 8, 1, 8]]"));
        assertEquals(0, check(false).errors());
        assertFindings(
                checkMasks(),
                "annotation 1",
                "annotation 2",
                "2 of 3 outlines cover no pixel; expected pixel coordinates");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "BOXES | {x}, {b} | y is flipped: write height - y",
                "MASKS | {x}, {b} | y is flipped: write height - y",
                "BOXES | {r}, {y} | x is flipped: write width - x",
                "BOXES | {y}, {x} | x and y are swapped",
                "BOXES | {h}, {v} | expected both in pixels of the image",
            })
    void itIsAnErrorIfMostOutlinesDoNotFitTheirBoxes(
            TargetKind targets, String corner, String expected) throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(100, 80), 100, 80);
        for (int id = 1; id <= 5; id++) {
            int x = 8 * id;
            int y = 3 * id;
            String wrong =
                    corner.replace("{x}", "" + x)
                            .replace("{y}", "" + y)
                            .replace("{b}", "" + (80 - y - 6))
                            .replace("{r}", "" + (100 - x - 6))
                            .replace("{h}", "" + (x / 2 + 30))
                            .replace("{v}", "" + (y / 2 + 30));
            String right = x + ", " + y;
            addAnnotation(id, 1, "[" + right + ", 6, 6]", outline(square(id < 5 ? wrong : right)));
        }
        DatasetReport report = check(targets, false);
        assertEquals(1, report.errors(), report.findings().toString());
        String error = report.messages(Finding.Severity.ERROR).get(0);
        assertTrue(error.contains("4 of 5 outlines do not match their bboxes"), error);
        assertTrue(error.contains(expected), error);
        assertTrue(error.contains("annotation 1 of image 1 (a.jpg)"), error);
    }

    private static String square(String corner) {
        List<String> at = Splitter.on(", ").splitToList(corner);
        int x = Integer.parseInt(at.get(0));
        int y = Integer.parseInt(at.get(1));
        return Text.format(
                "[[%d, %d, %d, %d, %d, %d, %d, %d]]", x, y, x + 6, y, x + 6, y + 6, x, y + 6);
    }

    @Test
    void problemsNameTheirElementAndKey() throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        images.add("{'width': null, 'height': 3, 'file_name': 'b.jpg', 'id': 12}");
        images.add("{'file_name': 'c.jpg', 'width': 4, 'height': 3}");
        categories.add("{'id': 3, 'name': null}");
        String start = "'image_id': 1, 'category_id': 1";
        annotations.add("{'id': 1, " + start + ", 'area': 30}");
        annotations.add("{'id': 2, " + start + ", 'keypoints': [1, 2, 2]}");
        annotations.add("{'id': 3, " + start + ", 'segmentation': [[1, 2, 3, 4, 5, 6]]}");
        annotations.add("{'bbox': null, " + start + ", 'id': 4}");
        annotations.add("{'id': 5, 'bbox': [], " + start + "}");
        annotations.add("{'id': 6, 'bbox': [1, 2, null, 4], " + start + "}");
        annotations.add("{'area': null, 'bbox': [1, 2, 3, 4], " + start + ", 'id': 7}");
        annotations.add("{'bbox': [1, 2, 3, 4], " + start + ", 'id': null}");
        annotations.add("{'bbox': [1, 2, 3, 4], 'category_id': 1, 'id': 9}");
        annotations.add(
                "{'id': 10, 'bbox': [1, 2, 3, 4], "
                        + start
                        + ", 'segmentation': [[1, 2, 'x', 4, 5, 6]]}");
        assertFindings(
                check(false),
                "image 12: width: expected an integer, got null",
                "images[2]: has no valid id",
                "annotation 1: has no bbox; expected [x, y, width, height]",
                "annotation 2: has no bbox; expected [x, y, width, height] around its keypoints",
                "annotation 3: has no bbox; expected [x, y, width, height] around its segmentation",
                "annotation 4: bbox: expected an array of numbers, got null",
                "annotation 5: bbox has 0 numbers, expected [x, y, width, height]",
                "annotation 6: bbox[2]: expected a number, got null",
                "annotation 7: area: expected a number, got null",
                "annotations[7]: id: expected an integer, got null",
                "annotation 9: has no valid image_id",
                "annotation 10: segmentation[0][2]: expected a number, got \"x\"",
                "category 3: name: expected a string, got null");
    }

    @Test
    void rejectsRepeatedClassNames() throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        addAnnotation(1, 1, "[1, 2, 5, 6]", "'area': 30");
        categories.add("{'id': 7, 'name': 'cat'}");
        assertFindings(
                check(false),
                "a.json: categories 1 (1 objects), 7 (0 objects): are all named \"cat\"");
        Path json = write();
        SaccadeException refused =
                assertThrows(
                        SaccadeException.class, () -> CocoDataset.open(json, folder, List.of()));
        assertTrue(refused.getMessage().contains("are all named \"cat\""));
    }

    @Test
    void aSectionOccursOnce() throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        Path json = write();
        String text = Files.readString(json).strip();
        Files.writeString(json, text.substring(0, text.length() - 1) + ", \"images\": []}");
        SaccadeException refused =
                assertThrows(
                        SaccadeException.class, () -> CocoDataset.open(json, folder, List.of()));
        String told = refused.getMessage();
        assertTrue(told.contains("\"images\" occurs twice; expected once"), told);
    }

    @Test
    void countsOnlySelectedClasses() throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        addAnnotation(1, 1, "[1, 2, 5, 6]", "'area': 30");
        ObjectStatistics dogs = (ObjectStatistics) checkBoxes("dog").statistics();
        assertEquals(List.of("dog"), dogs.classNames());
        assertEquals(List.of(1, 0), List.of(dogs.objects().boxes(), dogs.objects().usable()));
        assertFindings(
                checkBoxes("dog", "cow"), "class \"cow\" is not in the categories [cat, dog]");
    }

    @Test
    void warningsDoNotHideErrors() throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        for (int id = 0; id < 20_100; id++) {
            addAnnotation(id, 1, id < 10_050 ? "[1, 2, 0, 6]" : "[1, 2, 5, 6]", "'area': 30");
        }
        images.add(image(2, "gone.jpg", 40, 30));
        DatasetReport report = check(false);
        int repeated = 1;
        assertEquals(List.of(1, 10_050 + repeated), List.of(report.errors(), report.warnings()));
        assertEquals(10_001, report.findings().size());
        assertTrue(report.findings().get(10_000).toString().contains("gone.jpg"));
    }

    @Test
    void reportsAFileThatIsNotJson() throws IOException {
        Path json = Files.writeString(folder.resolve("a.json"), "{\"images\": [}");
        DatasetReport report =
                new CocoCheck(json, folder, List.of(), Optional.empty())
                        .run(new CheckOptions(true, TargetKind.BOXES, 1, () -> {}));
        assertFindings(report, "a.json:1:13: invalid JSON");
        assertEquals(0, report.statistics().images());
    }

    @ParameterizedTest
    @CsvSource({"UTF-16LE", "UTF-16BE"})
    void namesFilesInUtf16(String charset) throws IOException {
        Path file = write();
        Files.write(file, ("\ufeff" + Files.readString(file)).getBytes(Charset.forName(charset)));
        CheckOptions options = new CheckOptions(true, TargetKind.BOXES, 1, () -> {});

        List<Finding> findings =
                new CocoCheck(file, folder, List.of(), Optional.empty()).run(options).findings();

        assertTrue(findings.get(0).message().contains("text in UTF-16"), findings::toString);
        assertTrue(
                DataFolder.content(folder).contains("text in UTF-16 (save it as UTF-8) (a.json)"));
    }

    @Test
    void rejectsSegmenters() throws IOException {
        addImage(1, "a.jpg", ImageFiles.jpeg(40, 30), 40, 30);
        addAnnotation(1, 1, "[1, 2, 5, 6]", "'area': 30");
        CheckOptions options = new CheckOptions(false, TargetKind.LABEL_MAPS, 1, () -> {});
        assertFindings(
                new CocoCheck(write(), folder, List.of(), Optional.empty()).run(options),
                "a.json: has labeled objects, but the model predicts a class per pixel; train a"
                        + " detector, or use another data set");
    }

    @Test
    void returnsTheSameReportWithAnyNumberOfThreads() throws IOException {
        for (int i = 0; i < 30; i++) {
            addImage(i, i + ".jpg", new byte[i % 3], 40, 30);
        }
        Path json = write();
        List<DatasetReport> reports = new ArrayList<>();
        for (int threads : new int[] {1, 4}) {
            int[] seen = {0};
            reports.add(
                    new CocoCheck(json, folder, List.of(), Optional.empty())
                            .run(
                                    new CheckOptions(
                                            true, TargetKind.BOXES, threads, () -> seen[0]++)));
            assertEquals(30, seen[0]);
        }
        assertEquals(reports.get(0), reports.get(1));
        assertEquals(30, reports.get(0).errors());
    }

    /** Asserts all findings but repeated objects, as most objects of these tests are alike. */
    private static void assertFindings(DatasetReport report, String... expected) {
        List<String> lines =
                report.findings().stream()
                        .map(Finding::toString)
                        .filter(line -> !line.contains("box of another object"))
                        .toList();
        String all = String.join("\n", lines);
        for (int i = 0; i < Math.min(lines.size(), expected.length); i++) {
            assertTrue(
                    lines.get(i).contains(expected[i]),
                    expected[i] + "\nnot in line " + i + " of\n" + all);
        }
        assertEquals(expected.length, lines.size(), all);
        assertEquals(report.findings().size(), report.errors() + report.warnings());
    }

    private DatasetReport check(boolean decode) throws IOException {
        return check(TargetKind.BOXES, decode);
    }

    private DatasetReport checkBoxes(String... classes) throws IOException {
        return check(TargetKind.BOXES, false, classes);
    }

    private DatasetReport checkMasks(String... classes) throws IOException {
        return check(TargetKind.MASKS, false, classes);
    }

    private DatasetReport check(TargetKind targets, boolean decode, String... classes)
            throws IOException {
        return new CocoCheck(write(), folder, List.of(classes), Optional.empty())
                .run(new CheckOptions(decode, targets, 2, () -> {}));
    }

    private Path write() throws IOException {
        String json =
                String.format(
                        Locale.ROOT,
                        "{'images': [%s], 'annotations': [%s], 'categories': [%s]}",
                        String.join(",\n", images),
                        String.join(",\n", annotations),
                        String.join(",\n", categories));
        return Files.writeString(folder.resolve("a.json"), json.replace('\'', '"'));
    }

    private void addImage(int id, String name, byte[] bytes, int width, int height)
            throws IOException {
        Files.write(folder.resolve(name), bytes);
        images.add(image(id, name, width, height));
    }

    private static String image(int id, String name, int width, int height) {
        return Text.format(
                "{'id': %d, 'file_name': '%s', 'width': %d, 'height': %d}",
                id, name, width, height);
    }

    private void addAnnotation(int id, int imageId, String box, String more) {
        annotations.add(
                Text.format(
                        "{'id': %d, 'image_id': %d, 'category_id': 1, 'bbox': %s, %s}",
                        id, imageId, box, more));
    }

    private static String outline(String segmentation) {
        return "'area': 9, 'segmentation': " + segmentation;
    }
}
