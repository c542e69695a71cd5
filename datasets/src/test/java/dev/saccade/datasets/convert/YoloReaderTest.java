package dev.saccade.datasets.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.convert.formats.SourceFormat;
import dev.saccade.datasets.image.ImageFiles;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What YOLO's files mean, in the layouts that are about. */
class YoloReaderTest {

    private static final String NAMES = "names: [cat, dog]";

    @TempDir Path folder;
    private Labels labels;

    @BeforeEach
    void images() {
        labels = new Labels(folder);
        labels.image("images/train/a.png", 100, 50).image("images/val/b.png", 100, 50);
        labels.text("labels/train/a.txt", "0 0.5 0.5 0.2 0.4");
        labels.text("labels/val/b.txt", "1 0.5 0.5 0.2 0.4");
    }

    @Test
    void boxesAndOutlinesAreInPixels() {
        labels.text("data.yaml", "train: images/train", "val: images/val", NAMES);
        labels.text("labels/val/b.txt", "1 0.1 0.2 0.5 0.2 0.3 0.8");
        SourceLabels read = labels.read(SourceFormat.YOLO);
        assertEquals(List.of("cat", "dog"), read.classes());
        assertEquals(
                List.of(
                        "images/train/a.png cat [40.0, 15.0, 20.0, 20.0]",
                        "images/val/b.png dog [10.0, 10.0, 40.0, 30.0] [3]"),
                Labels.describe(read));
        assertEquals(
                List.of(Optional.of(Split.TRAIN), Optional.of(Split.VAL)),
                read.images().stream().map(LabeledImage::split).toList());
    }

    @Test
    void readsBoxesAndOutlinesInOneFile() {
        labels.text("data.yaml", "train: images/train", "val: images/val", NAMES);
        labels.text("labels/train/a.txt", "0 0.5 0.5 0.2 0.4", "0 0.1 0.2 0.5 0.2 0.3 0.8");
        labels.text("labels/val/b.txt");
        SourceLabels read = labels.read(SourceFormat.YOLO);
        assertEquals(
                List.of(
                        "images/train/a.png cat [40.0, 15.0, 20.0, 20.0]",
                        "images/train/a.png cat [10.0, 10.0, 40.0, 30.0] [3]"),
                Labels.describe(read));
        assertTrue(
                labels.findings(read).get(0).contains("1 of 2 objects have a box but no outline"));
    }

    @Test
    void readsNamesAsAMapAndPathsOfAnotherMachine() {
        labels.text(
                "data.yaml",
                "path: C:\\Users\\ann\\birds",
                "train: [../train/images/train]",
                "val: /home/ann/birds/images/val",
                "test:",
                "names:",
                "  0: cat",
                "  1: dog");
        SourceLabels read = labels.read(SourceFormat.YOLO);
        assertEquals(List.of("cat", "dog"), read.classes());
        assertEquals(1, read.images(Split.VAL).size());
        assertEquals(1, read.images(Split.TRAIN).size());
    }

    @Test
    void readsListsOfImages() {
        labels.text("data.yaml", "train: train.txt", "val: [val.txt]", "test: gone.txt", NAMES);
        labels.text("train.txt", "\ufeff./images/train/a.png\r", "", "images/train/gone.png");
        labels.text("val.txt", "D:\\data\\images\\val\\b.png");
        assertEquals(
                List.of(
                        "ERROR train.txt:3: image images/train/gone.png does not exist",
                        "warning data.yaml:3: test: gone.txt is not in the folder"),
                labels.findings(SourceFormat.YOLO).stream().sorted().toList());
    }

    @Test
    void readsDarknetFiles() {
        labels.text("obj.names", "cat", "dog");
        labels.text(
                "obj.data",
                "classes = 2",
                "train = data/train.txt",
                "valid = data/test.txt",
                "names = data/obj.names",
                "backup = backup/");
        labels.text("train.txt", "data/images/train/a.png");
        labels.text("test.txt", "data/images/val/b.png");
        SourceLabels read = labels.read(SourceFormat.YOLO);
        assertEquals(List.of(), labels.findings(read));
        assertEquals(
                List.of("images/val/b.png"),
                read.images(Split.VAL).stream().map(LabeledImage::name).toList());
    }

    @Test
    void derivesSplitsFromFoldersWithoutAnyDescription() throws IOException {
        Path other = Files.createDirectory(folder.resolve("other"));
        Labels flat = new Labels(other);
        flat.image("train/a.png", 10, 10).text("train/a.txt", "0 0.5 0.5 1 1");
        flat.image("valid/a.png", 10, 10).text("valid/a.txt", "0 0.5 0.5 1 1");
        flat.text("train/classes.txt", "cat");
        SourceLabels read = flat.read(SourceFormat.YOLO);
        assertEquals(
                List.of(
                        "train/a.png cat [0.0, 0.0, 10.0, 10.0]",
                        "valid/a.png cat [0.0, 0.0, 10.0, 10.0]"),
                Labels.describe(read));
        assertEquals(1, read.images(Split.VAL).size());
    }

    @Test
    void imagesWithoutLabelsHaveNoObjects() throws IOException {
        labels.text("data.yaml", "train: images/train", "val: images/val", NAMES);
        Files.delete(folder.resolve("labels/train/a.txt"));
        SourceLabels read = labels.read(SourceFormat.YOLO);
        assertEquals(2, read.images().size());
        assertEquals(List.of(), labels.findings(read));
    }

    @Test
    void reportsEveryFaultWithItsLine() {
        labels.text("data.yaml", "train: images/train", "val: images/val", NAMES);
        labels.text(
                "labels/train/a.txt",
                "2 0.5 0.5 0.2 0.4",
                "0 0,5 0,5 0,2 0,4",
                "0 0.5 0.5 0.2",
                "0 0.5 0.5 0.2 0.4 0.9",
                "0 nan 0.5 0.2 0.4",
                "0 50 25 20 20",
                "0 0.5 0.5 0 0.4",
                "0 0.5 0.5 0.2 0.4",
                "0 0.5 0.5 0.2 0.4",
                "1 1 0.5 0.4 0.4",
                "1 0.5 0.5 0.6 0.5 0.7 0.5",
                "0.5 0.5 0.5 0.2 0.4");
        labels.text("labels/val/b.txt", "1 0.1 0.2 0.5 0.2 0.3 0.8");
        labels.text("labels/val/orphan.txt", "0 0.5 0.5 0.2 0.4");
        assertEquals(
                List.of(
                        "warning labels/val/orphan.txt: labels have no image; skipped",
                        "warning .: 2 of 3 objects have a box but no outline; they are kept for"
                                + " box-only models, but mask models reject them",
                        "ERROR labels/train/a.txt:1: got class 2, expected 0 to 1, for 2 names in"
                                + " data.yaml",
                        "ERROR labels/train/a.txt:2: got \"0,5\", expected decimal numbers"
                                + " separated by blanks",
                        "ERROR labels/train/a.txt:3: got 4 numbers, expected a class index, and a"
                                + " box of 4 numbers or an outline of 3 or more points",
                        "ERROR labels/train/a.txt:4: got 6 numbers, expected class, x, y, width and"
                                + " height; a score means that these are predictions, not labels",
                        "ERROR labels/train/a.txt:5: got \"nan\", expected decimal numbers"
                                + " separated by blanks",
                        "ERROR labels/train/a.txt:6: got 50, expected fractions of the image,"
                                + " 0 to 1",
                        "warning labels/train/a.txt:7: box [50.0, 15.0, 50.0, 35.0] has no area;"
                                + " skipped",
                        "warning labels/train/a.txt:9: repeats an earlier object; used once",
                        "warning labels/train/a.txt:10: box [80.0, 15.0, 120.0, 35.0] exceeds"
                                + " 100x50; clipped",
                        "warning labels/train/a.txt:11: box [50.0, 25.0, 70.0, 25.0] has no area;"
                                + " skipped",
                        "ERROR labels/train/a.txt:12: got class 0.5, expected 0 to 1, for 2 names"
                                + " in data.yaml"),
                labels.findings(SourceFormat.YOLO));
    }

    @Test
    void reportsFaultsOfTheDescription() {
        labels.text(
                "data.yaml",
                "train: images/train",
                "val: images/gone",
                "nc: 3",
                "names: [cat, cat]");
        assertEquals(
                List.of(
                        "ERROR data.yaml:4: class \"cat\" occurs twice",
                        "ERROR data.yaml:3: nc: got 3 classes, but 2 names",
                        "ERROR data.yaml:2: val: images/gone is not in .; expected a folder or list"
                                + " of images"),
                labels.findings(SourceFormat.YOLO).stream()
                        .filter(told -> told.startsWith("ERROR"))
                        .toList());
    }

    @Test
    void trainingImagesAreNotUsedForValidation() {
        labels.text("data.yaml", "train: images", "val: images/val", NAMES);
        SourceLabels read = labels.read(SourceFormat.YOLO);
        assertEquals(
                "warning data.yaml:2: 1 image here, such as images/val/b.png, is also listed for"
                        + " train; used for that split only",
                labels.findings(read).get(0));
        assertEquals(2, read.images(Split.TRAIN).size());
    }

    @Test
    void reportsTextThatIsNotUtf8WithItsLine() {
        labels.text("data.yaml", "train: images/train", "val: images/val", NAMES);
        labels.bytes(
                "labels/train/a.txt",
                "0 0.5 0.5 0.2 0.4\n\u00e9".getBytes(StandardCharsets.ISO_8859_1));
        assertEquals(
                List.of("ERROR labels/train/a.txt:2: not UTF-8 text; save it as UTF-8"),
                labels.findings(SourceFormat.YOLO));
    }

    @Test
    void fractionsReferToTheUprightImage() {
        labels.text("data.yaml", "train: images/train", "val: images/val", NAMES);
        labels.bytes("images/train/a.png", ImageFiles.withOrientation(ImageFiles.jpeg(40, 20), 6));
        SourceLabels read = labels.read(SourceFormat.YOLO);
        assertEquals(new Size(40, 20), read.images().get(0).size());
        assertTrue(Labels.describe(read).get(0).endsWith("cat [8.0, 12.0, 4.0, 16.0]"));
        List<String> findings = labels.findings(SourceFormat.YOLO);
        assertEquals(1, findings.size(), findings::toString);
        assertTrue(findings.get(0).contains("a.png has EXIF orientation 6"), findings::toString);
    }

    @Test
    void linksInCirclesAreNotFollowed() throws IOException {
        labels.text("data.yaml", "train: images/train", "val: images/val", NAMES);
        Files.createSymbolicLink(folder.resolve("images/up"), folder);
        assertEquals(
                List.of("warning images/up: links to a parent folder; not followed"),
                labels.findings(SourceFormat.YOLO));
    }

    @Test
    void noPathLeavesTheFolder() throws IOException {
        Path inside = Files.createDirectory(folder.resolve("inside"));
        Labels few = new Labels(inside);
        few.image("images/a.png", 10, 10).text("labels/a.txt", "0 0.5 0.5 1 1");
        few.text("data.yaml", "train: images", "val: ../images/val", NAMES);
        assertTrue(
                few.findings(SourceFormat.YOLO).get(0).startsWith("ERROR data.yaml:2: val: "),
                few.findings(SourceFormat.YOLO).toString());
    }

    private List<String> classes(String... lines) {
        labels.text("data.yaml", lines);
        return labels.read(SourceFormat.YOLO).classes();
    }

    @Test
    void namesAreAsTheyAreWritten() {
        assertEquals(
                List.of("02146", "1e3", "0x1F", "no", "1_000", "null", "~", "1.50", "2024-01-02"),
                classes("names: [02146, 1e3, 0x1F, no, 1_000, null, ~, 1.50, 2024-01-02]"));
        assertEquals(List.of("007", "True"), classes("names:", "  0: 007", "  1: True", "nc: 2"));
        assertEquals(List.of("+1", ".5"), classes("names:", "- +1", "- .5 # half"));
        assertEquals(List.of("1e3", "0o7"), classes("names: {0: 1e3, 1: '0o7'}"));
    }

    @Test
    void namesAreComparedWithoutBlanksAndInOneUnicodeForm() {
        labels.text("data.yaml", "names: ['cat ', cat]");
        assertTrue(
                labels.findings(SourceFormat.YOLO).stream()
                        .anyMatch(f -> f.contains("class \"cat\" occurs twice")));
        assertEquals(List.of("caf\u00e9", "dog"), classes("names: [\" cafe\u0301\", dog]"));
    }

    @Test
    void anEmptyNameOrOneGivenTwiceIsAnError() {
        labels.text("data.yaml", "names: {0: cat, 1: , 00: dog}");
        List<String> findings = labels.findings(SourceFormat.YOLO);
        assertTrue(findings.stream().anyMatch(f -> f.contains("expected a class name")));
        assertTrue(findings.stream().anyMatch(f -> f.contains("got 00")));
    }

    @Test
    void rejectsUndeclaredKeypoints() {
        labels.text("data.yaml", NAMES);
        labels.text("labels/train/a.txt", "0 .5 .5 .2 .4 .45 .4 1 .55 .6 1");
        labels.text("labels/val/b.txt", "1 .3 .3 .2 .2 .25 .35 1 0 0 0");
        assertTrue(findsKeypoints("kpt_shape: [2, 3]"));
        labels.text("labels/train/a.txt", "0 .5 .5 .2 .4 .45 .4 .55 .6");
        labels.text("labels/val/b.txt", "1 .9 .3 .2 .2 .85 .35 0 0", "1 .3 .3 .2 .2 .3 .3 .3 .3");
        assertTrue(findsKeypoints("kpt_shape: [2, 2]"));
        labels.text("data.yaml", NAMES, "kpt_shape: [2, 2]");
        assertEquals(
                "images/train/a.png cat [40.0, 15.0, 20.0, 20.0]",
                Labels.describe(labels.read(SourceFormat.YOLO)).get(0));
    }

    @Test
    void rejectsKeypointsBesideBoxesAndPolygons() {
        labels.text("data.yaml", NAMES);
        labels.text("labels/train/a.txt", "0 .5 .5 .2 .4 .45 .4 1 .55 .6 1", "0 .5 .5 .2 .4");
        labels.text(
                "labels/val/b.txt", "1 .3 .3 .2 .2 .25 .35 1 0 0 0", "1 .1 .1 .2 .1 .2 .3 .1 .3");
        assertTrue(findsKeypoints("kpt_shape: [2, 3]"));
        labels.text(
                "labels/train/a.txt",
                "0 .5 .5 .2 .4 .45 .4",
                "0 .5 .5 .2 .2 .55 .45",
                "0 .4 .5 .2 .2 .35 .45",
                "0 .3 .5 .2 .2 .35 .55");
        labels.text("labels/val/b.txt", "1 .3 .3 .2 .2");
        assertTrue(findsKeypoints("kpt_shape: [1, 2]"));
    }

    @Test
    void missingClassNamesAreOneError() {
        labels.text("labels/train/a.txt", "0 .5 .5 .2 .4", "2 .5 .5 .2 .4");
        List<String> errors =
                labels.findings(SourceFormat.YOLO).stream()
                        .filter(finding -> finding.startsWith("ERROR"))
                        .toList();
        assertEquals(1, errors.size(), errors.toString());
    }

    private boolean findsKeypoints(String shape) {
        return labels.findings(SourceFormat.YOLO).stream()
                .anyMatch(f -> f.startsWith("ERROR") && f.contains(shape));
    }

    @Test
    void polygonsOfEqualLengthAreNotKeypoints() {
        labels.text("data.yaml", NAMES);
        labels.text("labels/train/a.txt", "0 .5 .5 .6 .5 .6 .6 .5 .6", "0 .1 .1 .2 .1 .2 .3 .1 .3");
        labels.text("labels/val/b.txt", "1 .3 .3 .4 .35 .35 .45 .25 .4");
        assertEquals(List.of(), labels.findings(SourceFormat.YOLO));
        assertEquals(3, Labels.describe(labels.read(SourceFormat.YOLO)).size());
    }

    @Test
    void reportsAugmentedCopiesInTwoSplits() {
        labels.text("data.yaml", "train: images/train", "val: images/val", NAMES);
        String hash = ".rf.0123456789abcdef0123456789abcde";
        labels.image("images/train/c_jpg" + hash + "0.png", 10, 10);
        labels.image("images/val/c_jpg" + hash + "1.png", 10, 10);
        assertEquals(
                List.of(
                        "warning .: augmented copies of 1 image, such as c_jpg, are in train and in"
                                + " val; move the copies of each image into one split, otherwise"
                                + " metrics are too high"),
                labels.findings(SourceFormat.YOLO));
    }
}
