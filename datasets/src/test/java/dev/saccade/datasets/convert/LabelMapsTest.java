package dev.saccade.datasets.convert;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.datasets.Split;
import dev.saccade.datasets.convert.formats.SourceFormat;
import dev.saccade.datasets.image.ImageFiles;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.awt.image.BufferedImage;
import java.nio.file.Path;
import java.util.List;

/** What label maps of other layouts mean. */
class LabelMapsTest {

    @TempDir Path folder;
    private Labels labels;

    @BeforeEach
    void start() {
        labels = new Labels(folder);
    }

    private void gray(String name, int... numbers) {
        BufferedImage image = new BufferedImage(numbers.length, 1, BufferedImage.TYPE_BYTE_GRAY);
        image.getRaster().setPixels(0, 0, numbers.length, 1, numbers);
        labels.bytes(name, ImageFiles.encode(image, "png"));
    }

    private void colored(String name, int... colors) {
        BufferedImage image = new BufferedImage(colors.length, 1, BufferedImage.TYPE_3BYTE_BGR);
        image.setRGB(0, 0, colors.length, 1, colors, 0, colors.length);
        labels.bytes(name, ImageFiles.encode(image, "png"));
    }

    private static short[] map(SourceLabels read, int index) {
        Path map = read.images().get(index).map().orElseThrow();
        return read.pixels().orElseThrow().read(map).toArray();
    }

    @Test
    void trainIdsOfCityscapesCountFromZero() {
        labels.image("leftImg8bit/train/ulm/u_1_leftImg8bit.png", 3, 1);
        labels.image("leftImg8bit/val/bonn/b_1_leftImg8bit.png", 3, 1);
        gray("gtFine/train/ulm/u_1_gtFine_labelTrainIds.png", 0, 18, 255);
        gray("gtFine/train/ulm/u_1_gtFine_labelIds.png", 7, 33, 1);
        gray("gtFine/val/bonn/b_1_gtFine_labelTrainIds.png", 1, 19, 255);
        gray("gtFine/val/bonn/b_2_gtFine_labelTrainIds.png", 1, 1, 1);
        SourceLabels read = labels.read(SourceFormat.CITYSCAPES);
        assertEquals(19, read.classes().size());
        assertArrayEquals(new short[] {0, 18, -1}, map(read, 0));
        assertEquals(1, read.images(Split.VAL).size());
        assertEquals(
                List.of(
                        "ERROR gtFine/val/bonn/b_2_gtFine_labelTrainIds.png: no image was found for"
                                + " this label map",
                        "ERROR gtFine/val/bonn/b_1_gtFine_labelTrainIds.png: unknown class index 19"
                                + " in 1 pixel, first in row 0, column 1"),
                labels.findings(read));
    }

    @Test
    void mapsIdsOfCityscapesByItsTable() {
        labels.image("leftImg8bit/train/ulm/u_1_leftImg8bit.png", 4, 1);
        gray("gtFine/train/ulm/u_1_gtFine_labelIds.png", 7, 33, 9, 26);
        SourceLabels read = labels.read(SourceFormat.CITYSCAPES);
        assertEquals("car", read.classes().get(13));
        assertArrayEquals(new short[] {0, 18, -1, 13}, map(read, 0));
    }

    @Test
    void cocoStuffIsKnownByItsFolders() {
        labels.image("images/train2017/000001.jpg", 2, 1);
        gray("annotations/train2017/000001_labelTrainIds.png", 0, 170);
        SourceLabels read = labels.read(SourceFormat.CITYSCAPES);
        assertEquals(171, read.classes().size());
        assertEquals("wood", read.classes().get(170));
        assertArrayEquals(new short[] {0, 170}, map(read, 0));
        assertEquals(1, read.images(Split.TRAIN).size());
    }

    @Test
    void vocCountsTheBackground() {
        labels.image("JPEGImages/a.png", 3, 1).image("JPEGImages/b.png", 3, 1);
        gray("SegmentationClass/a.png", 0, 20, 255);
        labels.text("ImageSets/Segmentation/val.txt", "a", "c");
        SourceLabels read = labels.read(SourceFormat.MASKS);
        assertEquals(21, read.classes().size());
        assertArrayEquals(new short[] {0, 20, -1}, map(read, 0));
        assertEquals(
                List.of(
                        "ERROR ImageSets/Segmentation/val.txt:2: file c.png does not exist",
                        "warning .: 1 image without a label map, such as JPEGImages/b.png, is"
                                + " skipped"),
                labels.findings(read));
    }

    @Test
    void colorsAreLookedUpInTheTable() {
        labels.text(
                "labelmap.txt",
                "# label:color_rgb:parts:actions",
                "background:0,0,0::",
                "road:128,64,128::",
                "ignored:1,2,3::");
        labels.image("JPEGImages/a.png", 3, 1);
        colored("SegmentationClass/a.png", 0x804080, 0, 0x010203);
        SourceLabels read = labels.read(SourceFormat.MASKS);
        assertEquals(List.of("background", "road"), read.classes());
        assertArrayEquals(new short[] {1, 0, -1}, map(read, 0));
        colored("SegmentationClass/a.png", 0x804080, 0, 0xFF0000);
        assertEquals(
                List.of(
                        "ERROR SegmentationClass/a.png: color 255,0,0, first in row 0, column 2, is"
                                + " not in the color table"),
                labels.findings(SourceFormat.MASKS));
    }

    @Test
    void camVidHasATableOfColorsAndFoldersOfItsOwn() {
        labels.text("class_dict.csv", "name,r,g,b", "Sky,128,128,128", "Void,0,0,0", "x,1");
        labels.image("train/a.png", 2, 1).image("val/a.png", 2, 1);
        colored("train_labels/a_L.png", 0x808080, 0);
        colored("val_labels/a_L.png", 0, 0x808080);
        SourceLabels read = labels.read(SourceFormat.MASKS);
        assertArrayEquals(new short[] {0, -1}, map(read, 0));
        assertEquals("val/a.png", read.images(Split.VAL).get(0).name());
        assertEquals(
                List.of("ERROR class_dict.csv:4: got \"x,1\", expected a name and a color r,g,b"),
                labels.findings(read));
    }

    @Test
    void rejectsLabelMapsOfAnotherSize() {
        labels.text("classes.txt", "sky").image("images/a.png", 5, 1);
        gray("masks/a.png", 0, 0, 255);
        List<String> told = labels.findings(labels.read(SourceFormat.MASKS));
        assertEquals(1, told.size());
        assertTrue(
                told.get(0)
                        .startsWith(
                                "ERROR masks/a.png: is 1x3 (height x width), but its image"
                                        + " images/a.png is 1x5"),
                told.toString());
    }

    @Test
    void pairsLabelMapsWithTheNearestImage() {
        labels.image("cam1/images/0.png", 2, 1).image("cam2/images/0.png", 2, 1);
        gray("cam2/masks/0.png", 0, 1);
        labels.text("classes.txt", "ground", "wall");
        SourceLabels read = labels.read(SourceFormat.MASKS);
        assertEquals("cam2/images/0.png", read.images().get(0).name());
        gray("masks/0.png", 0, 1);
        assertTrue(
                labels.findings(SourceFormat.MASKS).stream()
                        .anyMatch(f -> f.contains("matches cam1/images/0.png and")));
    }
}
