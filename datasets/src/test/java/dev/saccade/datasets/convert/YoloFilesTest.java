package dev.saccade.datasets.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.datasets.convert.formats.SourceFormat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.util.List;

/** Which label file belongs to which image. */
class YoloFilesTest {

    private static final String LINE = "0 0.5 0.5 0.2 0.4";

    @TempDir Path folder;
    private Labels labels;

    @BeforeEach
    void write() {
        labels = new Labels(folder);
        labels.text("data.yaml", "train: images/train", "val: images/val", "names: [cat]");
        labels.image("images/train/a.png", 100, 50).image("images/val/b.png", 100, 50);
        labels.text("labels/train/a.txt", LINE).text("labels/val/b.txt", LINE);
    }

    private List<String> told() {
        return Labels.describe(SourceFormat.YOLO.read(folder, () -> {}));
    }

    @ParameterizedTest
    @CsvSource(
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "images/train/caf\u00e9.png,labels/train/cafe\u0301.txt",
                "images/train/cafe\u0301.png,labels/train/caf\u00e9.txt",
                "images/train/caf\u00e9 1+1.png,labels/train/caf%C3%A9%201%2B1.txt",
                "images/train/caf\u00e9 1.png,labels/train/caf%25C3%25A9%25201.txt",
                "images/train/c d.png,labels/train/c+d.txt",
                "images/train/c%20d.png,labels/train/c d.txt",
                "images/train/c.png,labels/train/c.png.txt",
                "images/train/c.jpg.png,labels/train/c.txt",
                "images/train/c.png,labels/train/c.TXT",
                "images/train/C.PNG,labels/train/c.txt",
                "images/train/c.png,labels/train/c .txt",
                "images/train/c.png,Labels/Train/c.txt",
                "images/train/c.png,labels\\train\\c.txt",
                "images\\train\\c.png,labels\\train\\c.txt",
                "images/train/c.jfif,labels/train/c.txt",
            })
    void namesAreMatchedByMeaning(String image, String file) {
        labels.image(image, 100, 50).text(file, LINE);
        List<String> told = told();
        String read = image.replace('\\', '/') + " cat [40.0, 15.0, 20.0, 20.0]";
        assertEquals(3, told.size(), told.toString());
        assertTrue(told.contains(read), told.toString());
    }

    @Test
    void pairsLabelsBySuffixIfNamesRepeat() {
        labels.image("images/train/c.png", 100, 50).image("images/train/c.bmp", 200, 50);
        labels.text("labels/train/c.png.txt", LINE).text("labels/train/c.bmp.txt", LINE);
        assertTrue(told().contains("images/train/c.png cat [40.0, 15.0, 20.0, 20.0]"));
        assertTrue(told().contains("images/train/c.bmp cat [80.0, 15.0, 40.0, 20.0]"));
    }

    @Test
    void labelsOfTwoImagesAreReported() {
        labels.image("images/train/a.bmp", 100, 50);
        assertEquals(
                List.of(
                        "warning labels/train/a.txt: contains the labels of images/train/a.bmp and"
                                + " images/train/a.png; remove the images without their own"
                                + " labels, or rename them"),
                labels.findings(SourceFormat.YOLO));
    }

    @Test
    void rejectsRemainingImagesAndLabels() {
        labels.image("images/train/c.png", 100, 50).image("images/train/d.png", 100, 50);
        labels.text("labels/train/0123-c.txt", LINE);
        List<String> findings = labels.findings(SourceFormat.YOLO);
        assertEquals(1, findings.size());
        assertTrue(
                findings.get(0).startsWith("ERROR .: 2 images without labels and 1 label file"),
                findings.get(0));
    }

    @Test
    void rejectsAmbiguousLabels() {
        labels.image("images/train/c d.png", 100, 50).image("images/train/C%20D.png", 100, 50);
        labels.text("labels/train/c+d.txt", LINE);
        assertTrue(labels.findings(SourceFormat.YOLO).get(0).startsWith("ERROR"));
    }

    @Test
    void remainingImagesHaveNoObjects() {
        labels.image("images/train/c.png", 100, 50);
        SourceLabels read = labels.read(SourceFormat.YOLO);
        assertEquals(List.of(), labels.findings(read));
        assertTrue(read.notes().get(0).contains("1 image without a label file"));
    }

    @Test
    void labelsNamedAfterTheWholeImageAreItsOwnIfImagesShareAName() {
        labels.text("data.yaml", "train: images/train", "val: images/val", "names: [cat]");
        labels.image("images/train/t.jpg", 10, 10).image("images/train/t.png", 10, 10);
        labels.text("labels/train/t.txt", "0 .5 .5 .2 .2");
        labels.text("labels/train/t.png.txt", "0 .5 .5 .4 .4");
        assertTrue(told().contains("images/train/t.jpg cat [4.0, 4.0, 2.0, 2.0]"));
        assertTrue(told().contains("images/train/t.png cat [3.0, 3.0, 4.0, 4.0]"));
    }
}
