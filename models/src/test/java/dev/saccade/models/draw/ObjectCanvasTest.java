package dev.saccade.models.draw;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

class ObjectCanvasTest {

    private static final List<String> CLASSES = List.of("cat", "dog", "cow");
    private static final Scalar GRAY = new Scalar(90, 90, 90);

    static {
        OpenCv.load();
    }

    @TempDir Path folder;

    @Test
    void drawsBoxOutlinesInClassColors() {
        Mat image = gray(200, 300);
        Instances instances =
                Instances.groundTruth(Boxes.of(20, 50, 120, 150, 160, 50, 260, 150), 0, 1);
        ObjectCanvas.draw(image, instances, CLASSES, true);
        double[] first = image.get(149, 70);
        double[] second = image.get(149, 210);
        assertFalse(Arrays.equals(first, second));
        assertFalse(Arrays.equals(first, GRAY.val));
        assertArrayEquals(image.get(100, 20), first);
        assertArrayEquals(new double[] {90, 90, 90}, image.get(100, 70));
    }

    @Test
    void writesScoresOfPredictionsOnly() {
        Mat truth = gray(200, 300);
        Mat prediction = gray(200, 300);
        Boxes box = Boxes.of(20, 50, 280, 150);
        ObjectCanvas.draw(truth, Instances.groundTruth(box, 2), CLASSES, true);
        ObjectCanvas.draw(
                prediction,
                Instances.predicted(box, new int[] {2}, new float[] {0.5f}),
                CLASSES,
                true);
        assertTrue(changedPixels(prediction) > changedPixels(truth));
    }

    @Test
    void labelSizeIsLimitedByObjectSize() {
        Boxes cell = Boxes.of(200, 200, 260, 260);
        Mat small = gray(480, 640);
        Mat large = gray(1920, 2560);
        ObjectCanvas.draw(small, Instances.groundTruth(cell, 0), CLASSES, true);
        ObjectCanvas.draw(large, Instances.groundTruth(cell, 0), CLASSES, true);
        assertEquals(changedPixels(small), changedPixels(large));
    }

    @Test
    void drawsBoxesAtAndOutsideTheBorder() {
        Mat image = gray(40, 60);
        ObjectCanvas.draw(
                image,
                Instances.groundTruth(
                        Boxes.of(0, 0, 60, 40, -20, -20, 300, 300, 58, 38, 60, 40), 0, 1, 2),
                CLASSES,
                true);
        assertTrue(changedPixels(image) > 0);
    }

    @Test
    void drawsNothingWithoutObjects() {
        Mat image = gray(40, 60);
        ObjectCanvas.draw(image, Instances.empty(), CLASSES, true);
        assertEquals(0, changedPixels(image));
    }

    @Test
    void drawsAPaddedSample() {
        Size size = new Size(100, 100);
        Sample sample =
                Sample.of(
                        gray(100, 100),
                        ImageInfo.of(size),
                        Instances.groundTruth(Boxes.of(30, 30, 70, 70), 1)
                                .withMasks(List.of(Rle.fromBox(size, 40, 40, 20, 20))));
        SplittableRandom random = new SplittableRandom(1);
        Sample ready =
                Configs.of(Pad.class)
                        .apply(Configs.of(Normalize.class).apply(sample, random), random);
        Mat picture = ObjectCanvas.picture(ready, CLASSES);
        assertEquals(400, picture.cols());
        assertFalse(Arrays.equals(GRAY.val, picture.get(200, 200)));
        assertFalse(Arrays.equals(GRAY.val, picture.get(161, 200)), "in the mask");
        assertArrayEquals(new double[] {90, 90, 90}, picture.get(157, 200), "above the mask");
        assertFalse(Arrays.equals(GRAY.val, picture.get(200, 120)), "the box");
        assertArrayEquals(new double[] {90, 90, 90}, picture.get(260, 260));
        assertEquals(0, changedPixels(ready.image()));
    }

    @Test
    void enlargesSmallSamples() {
        Size size = new Size(35, 46);
        Instances cow = Instances.groundTruth(Boxes.of(2, 10, 44, 33), 2);
        Mat picture =
                ObjectCanvas.picture(Sample.of(gray(35, 46), ImageInfo.of(size), cow), CLASSES);
        assertEquals(new Size(245, 322), new Size(picture.rows(), picture.cols()));
        assertTrue(changedPixels(picture) < picture.total() / 10);
        Mat large = gray(240, 320);
        Sample unchanged = Sample.of(large, ImageInfo.of(new Size(240, 320)), cow);
        assertEquals(320, ObjectCanvas.picture(unchanged, CLASSES).cols());
    }

    @Test
    void blendsMasksAndOutlinesInOrder() {
        Mat image = gray(100, 100);
        Size size = new Size(100, 100);
        Instances found =
                Instances.predicted(
                                Boxes.of(0, 0, 100, 100, 0, 0, 100, 100),
                                new int[] {0, 1},
                                new float[] {0.9f, 0.8f})
                        .withMasks(
                                List.of(
                                        Rle.fromBox(size, 40, 40, 30, 30),
                                        Rle.fromBox(size, 60, 40, 30, 30)));
        ObjectCanvas.draw(image, found, CLASSES, true);
        double[] worse = image.get(55, 80);
        double[] better = image.get(55, 50);
        double[] both = image.get(55, 65);
        double[] outline = image.get(55, 40);
        assertArrayEquals(new double[] {90, 90, 90}, image.get(75, 50));
        assertFalse(Arrays.equals(worse, better));
        for (int channel = 0; channel < 3; channel++) {
            double tone = 90 + (better[channel] - 90) / 0.45;
            assertEquals(worse[channel] + 0.45 * (tone - worse[channel]), both[channel], 2);
            assertEquals(better[channel] + 0.8 * (tone - better[channel]), outline[channel], 2);
        }
    }

    @Test
    void jpegsCanBeReadAgain() throws IOException {
        Path jpeg = Files.write(folder.resolve("a.jpg"), Jpeg.encode(gray(20, 30)));
        Mat read = ImageReader.read(jpeg);
        assertEquals(30, read.cols());
        assertArrayEquals(new double[] {90, 90, 90}, read.get(10, 10), 2);
    }

    private static Mat gray(int height, int width) {
        return new Mat(height, width, CvType.CV_8UC3, GRAY);
    }

    private static int changedPixels(Mat image) {
        Mat same = new Mat();
        Core.inRange(image, GRAY, GRAY, same);
        return (int) image.total() - Core.countNonZero(same);
    }
}
