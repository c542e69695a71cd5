package dev.saccade.models.draw;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.transforms.Pad;

import org.junit.jupiter.api.Test;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

class LabelCanvasTest {

    private static final List<String> CLASSES = List.of("sky", "road", "car");
    private static final Size SIZE = new Size(100, 200);

    static {
        OpenCv.load();
    }

    @Test
    void blendsColorsExceptIgnoredPixels() {
        Mat picture = LabelCanvas.draw(gray(SIZE), labels(), CLASSES, true);
        for (int label = 0; label < 3; label++) {
            double[] color = bgr(label);
            double[] found = picture.get(50, new int[] {80, 120, 150}[label]);
            for (int channel = 0; channel < 3; channel++) {
                assertEquals((90 + color[channel]) / 2, found[channel], 1);
            }
        }
        assertArrayEquals(new double[] {90, 90, 90}, picture.get(50, 190));
    }

    @Test
    void legendListsLargestClassesFirst() {
        Mat picture = LabelCanvas.draw(gray(SIZE), labels(), CLASSES, true);
        assertTrue(picture.rows() > 110, picture.rows() + " rows");
        assertEquals(200, picture.cols());
        assertEquals(List.of(0, 2, 1), patches(picture));
    }

    @Test
    void legendFitsLongNamesAndWraps() {
        List<String> names = Collections.nCopies(3, "a class with a long name");
        Mat picture = LabelCanvas.draw(gray(SIZE), labels(), names, true);
        assertTrue(picture.cols() > 200, picture.cols() + " columns");
        assertEquals(List.of(0, 2, 1), patches(picture));
        assertArrayEquals(WHITE, picture.get(50, picture.cols() - 1));
    }

    @Test
    void legendShowsUnlabeledPixels() {
        Mat gray = gray(SIZE);
        Mat none = LabelCanvas.draw(gray, LabelMap.filled(SIZE, LabelMap.IGNORE), CLASSES, true);
        assertTrue(none.rows() > SIZE.height(), "a legend");
        assertEquals(List.of(), patches(none));
        assertArrayEquals(new double[] {90, 90, 90}, none.get(7, 7));
    }

    @Test
    void drawsAPaddedSegmentationSample() {
        Sample sample = Sample.of(gray(SIZE), ImageInfo.of(SIZE), labels());
        Sample padded = new Pad(List.of(), 64).apply(sample, new SplittableRandom(1));
        Mat picture = ObjectCanvas.picture(padded, CLASSES);
        assertEquals(400, picture.cols());
        assertEquals(List.of(0, 2, 1), patches(picture));
    }

    @Test
    void rejectsLabelsOfAnotherSize() {
        assertThrows(
                IllegalArgumentException.class,
                () ->
                        LabelCanvas.draw(
                                gray(SIZE), LabelMap.filled(new Size(200, 100), 0), CLASSES, true));
    }

    private static final double[] WHITE = {255, 255, 255};

    /** Class 0 on the left, then 1, then 2, then unlabeled. */
    private static LabelMap labels() {
        short[] labels = new short[20_000];
        for (int i = 0; i < labels.length; i++) {
            int x = i % 200;
            labels[i] = (short) (x < 110 ? 0 : x < 125 ? 1 : x < 180 ? 2 : LabelMap.IGNORE);
        }
        return LabelMap.of(SIZE, labels);
    }

    private static Mat gray(Size size) {
        return new Mat(size.height(), size.width(), CvType.CV_8UC3, new Scalar(90, 90, 90));
    }

    private static double[] bgr(int label) {
        int rgb = ClassColors.rgb(label);
        return new double[] {rgb & 0xFF, rgb >> 8 & 0xFF, rgb >> 16};
    }

    /** Returns the classes of the color patches below the image, in reading order. */
    private static List<Integer> patches(Mat picture) {
        List<Integer> found = new ArrayList<>();
        for (int y = 100; y < picture.rows(); y++) {
            for (int x = 0; x < picture.cols(); x++) {
                for (int label = 0; label < 3; label++) {
                    boolean same = java.util.Arrays.equals(bgr(label), picture.get(y, x));
                    if (same && !found.contains(label)) {
                        found.add(label);
                    }
                }
            }
        }
        return found;
    }
}
