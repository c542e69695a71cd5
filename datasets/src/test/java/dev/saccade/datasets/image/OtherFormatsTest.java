package dev.saccade.datasets.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ade20k.Ade20kDataset;
import dev.saccade.datasets.coco.CocoDataset;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Labels of other tools, and what else is taken for a data set. */
class OtherFormatsTest {

    private static final CheckOptions OPTIONS =
            new CheckOptions(false, TargetKind.BOXES, 1, () -> {});

    private static final CocoDataset.Config COCO =
            new CocoDataset.Config("labels.json", "images", List.of());

    @TempDir private Path folder;

    private void write(String file, String text) throws IOException {
        Path path = folder.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text.replace('\'', '"'));
    }

    private void writeImage(String file) throws IOException {
        Path path = folder.resolve(file);
        Files.createDirectories(path.getParent());
        Files.write(path, ImageFiles.jpeg(40, 30));
    }

    /** Returns the single error, which opening the data set tells as well. */
    private String error() {
        DatasetReport report = COCO.check(folder, OPTIONS);
        assertEquals(1, report.errors(), report.findings().toString());
        String message = report.findings().get(0).message();
        SaccadeException refused = assertThrows(SaccadeException.class, () -> COCO.open(folder));
        assertEquals(SaccadeException.Kind.USER, refused.kind());
        String told = refused.getMessage().replaceAll("\\p{Cntrl}", "?");
        assertTrue(told.endsWith(message), told);
        return message;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "[{'image_id': 1, 'category_id': 1, 'bbox': [1, 2, 3, 4], 'score': 0.5}]"
                        + "| a list of objects with image_id, category_id, bbox, score,"
                        + " apparently COCO results; expected ground truth",
                "[{'id': 1, 'image_id': 1, 'category_id': 1, 'bbox': [1, 2, 3, 4]}]| the"
                        + " annotations of a COCO file only; expected images",
                "{'version': '5', 'shapes': [{'label': 'a'}], 'imagePath': 'a.jpg'}"
                        + "| an object with version, shapes, imagePath, apparently LabelMe;"
                        + " convert it to COCO's format",
                "{'_via_settings': {}, '_via_img_metadata': {}} | apparently a VIA project",
                "{'a.jpg17': {'filename': 'a.jpg', 'regions': [{}]}} | apparently VIA; convert",
                "{'images': [], 'annotations': [{'id': 1, 'image_id': 1, 'caption': 'x'}]}|"
                        + " annotations with a caption each, apparently COCO captions; expected"
                        + " COCO instances",
                "{'images': [], 'annotations': [{'image_id': 1, 'segments_info': [{'id': 1}]}]}"
                        + "| apparently COCO panoptic labels; expected COCO instances",
                "[{'image': 'a.jpg', 'annotations': [{'label': 'x'}]}] | apparently Create ML",
                "[{'id': 1, 'data': {}, 'annotations': []}] | apparently Label Studio",
                "[{'name': 'a.jpg', 'labels': []}] | apparently Scalabel",
                "{'assets': {}, 'tags': []} | apparently VoTT",
                "{'info': {}, 'categories': {}, 'items': []} | apparently Datumaro",
                "{'a': 1, 'b': [2], 'c': {}} | got an object with a, b, c",
                "[1, 2] | got a list",
                "[] | got a list",
                "{} | got an object",
                "7 | got 7",
                "0 0.5 0.5 0.25 1e-2 | got 0; apparently it is YOLO",
                "<annotation><object/></annotation> | invalid JSON",
            })
    void namesOtherJsonFormats(String json, String expected) throws IOException {
        write("labels.json", json);
        String message =
                COCO.check(folder, OPTIONS).findings().stream()
                        .map(Finding::message)
                        .reduce((first, last) -> last)
                        .orElse("nothing");
        assertTrue(
                message.startsWith("expected an object with images, annotations and")
                        || message.contains("invalid JSON"),
                message);
        assertTrue(message.contains(expected), message);
    }

    @Test
    void namesOtherFileFormats() throws IOException {
        write("labels.json", "<annotation><object/></annotation>");
        assertEnds(error(), "apparently it is Pascal VOC");
        writeImage("labels.json");
        assertEnds(error(), "apparently it is an image");
        write("labels.json", "PK\u0003\u0004rest");
        assertEnds(error(), "apparently it is an archive (unpack it)");
        write("labels.json", "");
        assertEnds(error(), "got nothing");
    }

    private static void assertEnds(String message, String expected) {
        assertTrue(message.endsWith(expected), message);
    }

    @Test
    void readsKeypointFilesAsObjects() throws IOException {
        writeImage("images/a.jpg");
        write(
                "labels.json",
                "{'images': [{'id': 1, 'file_name': 'a.jpg', 'width': 40, 'height': 30}],"
                        + "'annotations': [{'id': 1, 'image_id': 1, 'category_id': 1,"
                        + "'caption': 'x', 'keypoints': [1, 2, 2], 'bbox': [1, 2, 9, 9]}],"
                        + "'categories': [{'id': 1, 'name': 'person', 'skeleton': []}]}");
        assertEquals(List.of(), COCO.check(folder, OPTIONS).findings());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "labels/train/a.txt | 0 0.5 0.5 0.1 0.2 | contains YOLO (labels/train/a.txt)",
                "data.yaml | names: [a, b] | contains YOLO (data.yaml)",
                "Annotations/a.xml | <annotation></annotation>"
                        + "| contains Pascal VOC (Annotations/a.xml)",
                "task/annotations.xml | <annotations></annotations> | contains CVAT",
                "a.json | {'shapes': [], 'imagePath': 'a.jpg'} | contains LabelMe (a.json)",
                "train/_annotations.coco.json | {'info': {}, 'images': []}"
                        + "| has train/_annotations.coco.json",
                "README | text | has images only (a.jpg)",
            })
    void describesAFolderWithoutAnnotations(String file, String text, String expected)
            throws IOException {
        writeImage("a.jpg");
        write(file, text);
        String message = error();
        assertTrue(
                message.startsWith(
                        "no such annotation file; expected a JSON file in COCO's format"
                                + " (data.train.annotations or data.val.annotations in the config); "
                                + folder),
                message);
        assertTrue(message.contains(expected), message);
        String advice = "must be converted first with convert-data";
        assertEquals(expected.startsWith("contains"), message.endsWith(advice), message);
    }

    @Test
    void suggestsTheFolderAbove() throws IOException {
        writeImage("images/a.jpg");
        write("labels.json", "{'images': []}");
        Path images = folder.resolve("images");
        SaccadeException above = assertThrows(SaccadeException.class, () -> COCO.open(images));
        assertTrue(
                above.getMessage()
                        .endsWith(
                                String.format(
                                        Locale.ROOT,
                                        "; but %s exists: did you mean the data set folder %s?",
                                        folder.resolve("labels.json"),
                                        folder)),
                above.getMessage());
        CocoDataset.Config dataset = new CocoDataset.Config("images", "images", List.of());
        SaccadeException instead = assertThrows(SaccadeException.class, () -> dataset.open(folder));
        assertTrue(
                instead.getMessage().contains("images: is a folder; expected a JSON file"),
                instead.getMessage());
    }

    @Test
    void reportsAMissingRootOnceIfNeeded() throws IOException {
        Path gone = folder.resolve("gone");
        Ade20kDataset.Config labels = Configs.of(Ade20kDataset.Config.class);
        for (Dataset.Config config : List.of(COCO, labels)) {
            String opened =
                    assertThrows(SaccadeException.class, () -> config.open(gone)).getMessage();
            String checked =
                    assertThrows(SaccadeException.class, () -> config.check(gone, OPTIONS))
                            .getMessage();
            assertEquals(opened, checked);
            assertTrue(
                    opened.startsWith(
                            gone + ": no such folder; set data.root to the folder that contains "),
                    opened);
        }
        Path file = Files.writeString(folder.resolve("data.zip"), "PK");
        assertTrue(
                assertThrows(SaccadeException.class, () -> COCO.open(file))
                        .getMessage()
                        .startsWith(file + ": is a file; set data.root"));
        writeImage("images/a.jpg");
        write("labels.json", "{'images': [], 'annotations': [], 'categories': []}");
        CocoDataset.Config absolute =
                new CocoDataset.Config(
                        folder.resolve("labels.json").toString(),
                        folder.resolve("images").toString(),
                        List.of());
        assertEquals(0, absolute.open(gone).size());
    }

    @Test
    void reportsAMissingImageFolderOnce() throws IOException {
        write(
                "labels.json",
                "{'images': [{'id': 1, 'file_name': 'a.jpg', 'width': 40, 'height': 30},"
                        + "{'id': 2, 'file_name': 'b.jpg', 'width': 40, 'height': 30}],"
                        + "'annotations': [], 'categories': [{'id': 1, 'name': 'person'}]}");
        String none = "images: has none of the 2 images; the first is expected at ";
        List<Finding> findings = COCO.check(folder, OPTIONS).findings();
        assertEquals(1, findings.size());
        assertTrue(findings.get(0).toString().contains(none), findings.toString());
        writeImage("images/b.jpg");
        assertEquals(
                List.of(folder.resolve("images/a.jpg") + ": image 1: no such file"),
                COCO.check(folder, OPTIONS).findings().stream().map(Finding::toString).toList());
    }

    @Test
    void namesAFolderWithoutLabelMaps() throws IOException {
        write("train.json", "{'images': []}");
        Ade20kDataset.Config config =
                Configs.of(
                        Ade20kDataset.Config.class,
                        "images=photos",
                        "annotations=labels",
                        "classes=[sky, road]",
                        "reduce_zero_label=false");
        CheckOptions options = new CheckOptions(false, TargetKind.LABEL_MAPS, 1, () -> {});
        List<Finding> missing = config.check(folder, options).findings();
        assertEquals(2, missing.size());
        assertEquals(
                folder.resolve("photos")
                        + ": no such folder; correct data.train.images or data.val.images in the"
                        + " config; ".replace("photos", "images")
                        + folder
                        + " has train.json",
                missing.get(0).toString());
        writeImage("photos/a.JPEG");
        writeImage("photos/b.jpeg");
        writeImage("labels/a.png");
        List<Finding> other = config.check(folder, options).findings();
        assertEquals(
                List.of(
                        folder.resolve("photos")
                                + ": has no file that ends in \".jpg\"; its files end in .JPEG,"
                                + " .jpeg; correct image_suffix"),
                other.stream().map(Finding::toString).toList());
    }
}
