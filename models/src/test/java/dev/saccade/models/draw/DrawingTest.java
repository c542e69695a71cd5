package dev.saccade.models.draw;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.models.ClassMap;
import dev.saccade.models.DetectedObject;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

import java.awt.image.BufferedImage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

class DrawingTest {

    private static final Size SIZE = new Size(80, 120);
    private static final List<String> CLASSES = List.of("cat", "dog", "cow");

    static {
        OpenCv.load();
    }

    @TempDir Path folder;

    private final BufferedImage photo =
            new BufferedImage(SIZE.width(), SIZE.height(), BufferedImage.TYPE_INT_RGB);

    private final Instances found =
            Instances.predicted(
                            Boxes.of(10, 20, 60, 70, 50, 30, 110, 75),
                            new int[] {2, 0},
                            new float[] {0.9f, 0.5f})
                    .withMasks(
                            List.of(
                                    Rle.fromBox(SIZE, 12, 22, 30, 30),
                                    Rle.fromBox(SIZE, 60, 40, 30, 30)));

    private final List<DetectedObject> objects = DetectedObject.of(found, CLASSES);

    @Test
    void drawsObjectsInScoreOrder() throws Exception {
        Mat expected = new Mat(SIZE.height(), SIZE.width(), CvType.CV_8UC3, new Scalar(0, 0, 0));
        ObjectCanvas.draw(expected, found, CLASSES, true);
        List<DetectedObject> turned = new ArrayList<>(objects);
        Collections.reverse(turned);
        Drawing.of(photo, turned).save(folder.resolve("found.png"));
        Mat read = ImageReader.read(folder.resolve("found.png"));
        assertEquals(0, Core.norm(expected, read, Core.NORM_INF));
        BufferedImage image = Drawing.of(photo, turned).toImage();
        double[] pixel = expected.get(40, 20);
        assertArrayEquals(
                new double[] {pixel[2], pixel[1], pixel[0]},
                image.getRaster().getPixel(20, 40, (double[]) null));
    }

    @Test
    void drawsLabelMapsWithLegend() {
        LabelMap labels = LabelMap.filled(SIZE, 1);
        BufferedImage image = Drawing.of(photo, new ClassMap(labels, CLASSES)).toImage();
        assertTrue(image.getHeight() > SIZE.height(), "a legend below");
        int rgb = ClassColors.rgb(1);
        assertEquals(rgb >> 1 & 0x7F7F7F, image.getRGB(5, 5) & 0xFFFFFF);
    }

    @Test
    void labelsCanBeOmitted() {
        Mat expected = new Mat(SIZE.height(), SIZE.width(), CvType.CV_8UC3, new Scalar(0, 0, 0));
        ObjectCanvas.draw(expected, found, List.of(), false);
        BufferedImage plain = Drawing.of(photo, objects).withoutLabels().toImage();
        double[] bgr = expected.get(20, 35);
        assertArrayEquals(
                new double[] {bgr[2], bgr[1], bgr[0]},
                plain.getRaster().getPixel(35, 20, (double[]) null));
        assertEquals(0, plain.getRGB(20, 15) & 0xFFFFFF, "no plate above the box");
        ClassMap map = new ClassMap(LabelMap.filled(SIZE, 1), CLASSES);
        assertEquals(SIZE.height(), Drawing.of(photo, map).withoutLabels().toImage().getHeight());
    }

    @Test
    void rejectsPredictionsOfAnotherImage() {
        BufferedImage other = new BufferedImage(120, 120, BufferedImage.TYPE_INT_RGB);
        for (Drawing drawing :
                List.of(
                        Drawing.of(other, objects),
                        Drawing.of(other, new ClassMap(LabelMap.filled(SIZE, 1), CLASSES)))) {
            SaccadeException e = assertThrows(SaccadeException.class, drawing::toImage);
            assertTrue(e.getMessage().contains("use the same image"), e.getMessage());
        }
    }

    @Test
    void rejectsUnsupportedExtensionsBeforeDrawing() throws Exception {
        for (String name : List.of("found", "found.gif", "found.")) {
            Path file = folder.resolve(name);
            SaccadeException e =
                    assertThrows(
                            SaccadeException.class, () -> Drawing.of(photo, objects).save(file));
            assertTrue(e.getMessage().contains("expected .jpg, "), e.getMessage());
            assertTrue(e.getMessage().endsWith(".png, .bmp, .webp, .tif, .tiff"), e.getMessage());
            assertTrue(!Files.exists(file));
        }
    }

    @Test
    void drawsObjectsWithAndWithoutMasks() {
        DetectedObject box =
                DetectedObject.of(
                                Instances.predicted(
                                        Boxes.of(1, 2, 30, 40), new int[] {1}, new float[] {1}),
                                CLASSES)
                        .get(0);
        BufferedImage some = Drawing.of(photo, List.of(objects.get(0), box)).toImage();
        assertEquals(SIZE.height(), some.getHeight());
        assertEquals(0, Drawing.of(photo, List.of()).toImage().getRGB(9, 9) & 0xFFFFFF);
    }
}
