package dev.saccade.datasets.convert;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.convert.formats.SourceFormat;
import dev.saccade.datasets.image.ImageFiles;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import javax.imageio.ImageIO;

/** Labels that are written in a format are read back by the reader of that format. */
class LabelWriterTest {

    private static final Size SIZE = new Size(30, 40);
    private static final List<String> CLASSES =
            List.of("traffic light", "<b> & \"quote\": 'x' # é", "鳥");

    @TempDir Path folder;
    private boolean imageClasses;

    @ParameterizedTest
    @EnumSource(TargetFormat.class)
    void boxesComeBackWithNamesThatNeedEscaping(TargetFormat format) throws IOException {
        List<LabeledImage> images =
                List.of(
                        image("a/1 & <2>.png", Split.TRAIN, box(0, 1, 2, 10, 7.5)),
                        image("a/images/b 'c' #é.png", Split.VAL, box(1, 0, 0, 40, 30)),
                        image("z.png", Split.TRAIN, box(2, 30.5, 3, 8, 9), box(2, 4, 5, 6, 7)));
        SourceLabels read = written(format, images);
        assertEquals(CLASSES, read.classes());
        assertEquals(3, read.images().size());
        for (int i = 0; i < images.size(); i++) {
            LabeledImage expected = images.get(i);
            LabeledImage actual = read.images().get(i);
            assertEquals("images/" + expected.name(), actual.name());
            assertEquals(expected.split(), actual.split());
            assertEquals(SIZE, actual.size());
            assertEquals(expected.objects().size(), actual.objects().size());
            for (int j = 0; j < actual.objects().size(); j++) {
                Annotation object = actual.objects().get(j);
                assertEquals(expected.objects().get(j).label(), object.label());
                assertEquals(new Segmentation.None(), object.segmentation());
                assertArrayEquals(
                        edges(expected.objects().get(j)), edges(object), 1e-4, object.toString());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(TargetFormat.class)
    void outlinesAndMasksKeepTheirPixels(TargetFormat format) throws IOException {
        Annotation triangle = Annotation.of(0, 0, new double[] {2, 2, 20, 2, 2, 22});
        Annotation parts =
                Annotation.of(
                        0,
                        1,
                        new double[] {1, 1, 6, 1, 6, 6, 1, 6},
                        new double[] {21, 11, 36, 11, 36, 26, 21, 26});
        Rle ring = Rle.fromBox(SIZE, 3, 4, 20, 15).minus(Rle.fromBox(SIZE, 8, 8, 5, 6));
        Annotation mask = Annotation.of(0, 2, ring);
        SourceLabels read =
                written(format, List.of(image("a.png", Split.TRAIN, triangle, parts, mask)));
        List<Annotation> objects = read.images().get(0).objects();
        assertEquals(3, objects.size());
        for (int i = 0; i < 3; i++) {
            Annotation expected = List.of(triangle, parts, mask).get(i);
            assertEquals(
                    expected.segmentation().mask(SIZE),
                    objects.get(i).segmentation().mask(SIZE),
                    "object " + i);
        }
    }

    @ParameterizedTest
    @EnumSource(TargetFormat.class)
    void labelsOfRotatedImagesReferToTheUprightImage(TargetFormat format) throws IOException {
        Path file = folder.resolve("rotated.jpg");
        Files.write(file, ImageFiles.withOrientation(ImageFiles.jpeg(40, 30), 6));
        Size upright = new Size(40, 30);
        LabeledImage image =
                new LabeledImage(
                        "rotated.jpg",
                        file,
                        false,
                        Optional.of(Split.TRAIN),
                        upright,
                        List.of(box(0, 5, 30, 10, 8)),
                        Optional.empty(),
                        List.of(),
                        "");
        LabeledImage read = written(format, List.of(image)).images().get(0);
        assertEquals(upright, read.size());
        assertArrayEquals(new double[] {5, 30, 10, 8}, edges(read.objects().get(0)), 1e-4);
    }

    @ParameterizedTest
    @EnumSource(TargetFormat.class)
    void onlyCocoKeepsCrowds(TargetFormat format) throws IOException {
        Annotation group =
                new Annotation(
                        0,
                        0,
                        new Annotation.Bbox(1, 1, 9, 9),
                        81,
                        new Segmentation.None(),
                        Set.of(Annotation.Flag.CROWD));
        SourceLabels read =
                written(format, List.of(image("a.png", Split.TRAIN, group, box(1, 3, 3, 9, 9))));
        assertEquals(format.keepsIgnored() ? 2 : 1, read.images().get(0).objects().size());
    }

    @Test
    void yoloRejectsImagesThatShareLabelFile() {
        List<LabeledImage> images =
                List.of(image("a.png", Split.TRAIN), image("a.jpg", Split.TRAIN));
        SaccadeException e =
                assertThrows(SaccadeException.class, () -> written(TargetFormat.YOLO, images));
        assertTrue(e.getMessage().contains("a.png and a.jpg need the same YOLO label file"));
    }

    @Test
    void yoloWritesBoxesBesideOutlinesAsOutlines() throws IOException {
        Annotation triangle = Annotation.of(0, 0, new double[] {4, 3, 20, 3, 4, 15});
        write(
                TargetFormat.YOLO,
                List.of(image("a.png", Split.TRAIN, box(1, 4, 3, 16, 12), triangle)));
        assertEquals(
                """
                1 0.100000 0.100000 0.500000 0.100000 0.500000 0.500000 0.100000 0.500000
                0 0.100000 0.100000 0.500000 0.100000 0.100000 0.500000
                """,
                Files.readString(folder.resolve("out/labels/a.txt")));
        assertEquals("./images/a.png\n", Files.readString(folder.resolve("out/train.txt")));
    }

    private SourceLabels written(TargetFormat format, List<LabeledImage> images)
            throws IOException {
        write(format, images);
        return SourceFormat.valueOf(format.name()).read(folder.resolve("out"), () -> {});
    }

    @Test
    void cvatTagsComeBack() throws IOException {
        imageClasses = true;
        LabeledImage owl = image("a/one.png", Split.TRAIN, Annotation.of(0, 2, 0, 0, 40, 30));
        LabeledImage cat = image("two.png", Split.VAL, Annotation.of(0, 0, 0, 0, 40, 30));
        SourceLabels read = written(TargetFormat.CVAT, List.of(owl, cat));
        assertTrue(read.imageClasses());
        assertEquals(CLASSES, read.classes());
        assertEquals(
                List.of(2, 0),
                read.images().stream().map(image -> image.objects().get(0).label()).toList());

        try (OutputFolder target =
                OutputFolder.create(folder.resolve("folders"), "test", false, List.of())) {
            assertThrows(
                    SaccadeException.class,
                    () -> Conversion.write(read, List.of(), target, () -> {}));
            SourceLabels named =
                    new SourceLabels(
                            List.of("C0", "C1", "C2"),
                            read.categoryIds(),
                            read.images(),
                            Optional.empty(),
                            /* imageClasses= */ true,
                            List.of(),
                            List.of());
            Conversion.write(named, List.of(), target, () -> {});
            target.finish();
        }
        assertTrue(Files.exists(folder.resolve("folders/train/C2/a/one.png")));
        assertTrue(Files.exists(folder.resolve("folders/val/C0/two.png")));
        assertTrue(Files.isDirectory(folder.resolve("folders/val/C2")));
    }

    @Test
    void masksBecomeLabelMaps() throws IOException {
        LabeledImage image =
                image("a/one.png", Split.TRAIN, mask(2, 0, 0, 40, 10), mask(0, 5, 5, 10, 10));
        writeLabelMaps(List.of(image, image("two.png", Split.VAL, mask(1, 0, 0, 1, 1))));
        BufferedImage map =
                ImageIO.read(folder.resolve("out/annotations/training/one.png").toFile());
        assertEquals(40, map.getWidth());
        assertEquals(30, map.getHeight());
        // Pixels are class indices from 1; the later object covers the earlier one.
        assertEquals(3, map.getRaster().getSample(4, 5, 0));
        assertEquals(1, map.getRaster().getSample(5, 5, 0));
        assertEquals(1, map.getRaster().getSample(14, 14, 0));
        assertEquals(0, map.getRaster().getSample(20, 10, 0));
        assertTrue(Files.exists(folder.resolve("out/images/training/one.png")));
        assertTrue(Files.exists(folder.resolve("out/annotations/validation/two.png")));
        assertEquals(CLASSES, Files.readAllLines(folder.resolve("out/classes.txt")));
    }

    @Test
    void labelMapsNeedMasksAndDistinctNames() {
        List<LabeledImage> images =
                List.of(
                        image("one.png", Split.TRAIN, box(0, 1, 2, 3, 4)),
                        image("one.jpg", Split.TRAIN, mask(0, 1, 2, 3, 4)));
        SaccadeException error = assertThrows(SaccadeException.class, () -> writeLabelMaps(images));
        assertTrue(error.getMessage().contains("one.png: has boxes"), error.getMessage());
        assertTrue(error.getMessage().contains("the same label map"), error.getMessage());
    }

    private void writeLabelMaps(List<LabeledImage> images) throws IOException {
        try (OutputFolder target =
                OutputFolder.create(folder.resolve("out"), "test", false, List.of())) {
            Conversion.writeLabelMaps(labels(images), target, () -> {});
            target.finish();
        }
    }

    private static Annotation mask(int label, int x, int y, int width, int height) {
        return Annotation.of(0, label, Rle.fromBox(SIZE, x, y, width, height));
    }

    private void write(TargetFormat format, List<LabeledImage> images) throws IOException {
        try (OutputFolder target =
                OutputFolder.create(folder.resolve("out"), "test", false, List.of())) {
            Conversion.write(labels(images), List.of(format), target, () -> {});
            target.finish();
        }
    }

    private SourceLabels labels(List<LabeledImage> images) {
        return new SourceLabels(
                CLASSES,
                List.of(1L, 2L, 3L),
                images,
                Optional.empty(),
                imageClasses,
                List.of(),
                List.of());
    }

    private LabeledImage image(String name, Split split, Annotation... objects) {
        try {
            Path file = folder.resolve("source").resolve(name);
            Files.createDirectories(file.getParent());
            Files.write(file, ImageFiles.png(40, 30, BufferedImage.TYPE_3BYTE_BGR));
            return new LabeledImage(
                    name,
                    file,
                    false,
                    Optional.of(split),
                    SIZE,
                    List.of(objects),
                    Optional.empty(),
                    List.of(),
                    "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Annotation box(int label, double x, double y, double width, double height) {
        return Annotation.of(0, label, x, y, width, height);
    }

    private static double[] edges(Annotation object) {
        Annotation.Bbox box = object.box();
        return new double[] {box.x(), box.y(), box.width(), box.height()};
    }
}
