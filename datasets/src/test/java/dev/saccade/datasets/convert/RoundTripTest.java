package dev.saccade.datasets.convert;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.Text;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.convert.formats.SourceFormat;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** What is written in a format of others comes back as COCO within the rounding of that format. */
class RoundTripTest {

    private static final int WIDTH = 640;
    private static final int HEIGHT = 480;
    private static final List<String> CLASSES = List.of("cat", "dog", "owl");

    /** A box, or a triangle in it. */
    record Shape(int label, int left, int top, int width, int height, boolean isTriangle) {

        double[] triangle() {
            return new double[] {left, top, left + width, top, left, top + height};
        }
    }

    @Provide
    Arbitrary<List<Shape>> shapes() {
        return Combinators.combine(
                        Arbitraries.integers().between(0, 2),
                        Arbitraries.integers().between(0, WIDTH - 20),
                        Arbitraries.integers().between(0, HEIGHT - 20),
                        Arbitraries.integers().between(2, 20),
                        Arbitraries.integers().between(2, 20),
                        Arbitraries.of(true, false))
                .as(Shape::new)
                .list()
                .uniqueElements()
                .ofMaxSize(12);
    }

    @Property(tries = 60)
    void yolo(@ForAll("shapes") List<Shape> shapes) throws IOException {
        List<String> lines = new ArrayList<>();
        for (Shape s : shapes) {
            lines.add(
                    s.isTriangle
                            ? Text.format(
                                    "%d %.6f %.6f %.6f %.6f %.6f %.6f",
                                    s.label,
                                    (double) s.left / WIDTH,
                                    (double) s.top / HEIGHT,
                                    (double) (s.left + s.width) / WIDTH,
                                    (double) s.top / HEIGHT,
                                    (double) s.left / WIDTH,
                                    (double) (s.top + s.height) / HEIGHT)
                            : Text.format(
                                    "%d %.6f %.6f %.6f %.6f",
                                    s.label,
                                    (s.left + s.width / 2.0) / WIDTH,
                                    (s.top + s.height / 2.0) / HEIGHT,
                                    (double) s.width / WIDTH,
                                    (double) s.height / HEIGHT));
        }
        inFolder(
                labels ->
                        labels.image("images/a.png", WIDTH, HEIGHT)
                                .text("classes.txt", CLASSES.toArray(String[]::new))
                                .text("labels/a.txt", lines.toArray(String[]::new)),
                SourceFormat.YOLO,
                shapes,
                1e-3);
    }

    @Property(tries = 60)
    void labelMe(@ForAll("shapes") List<Shape> shapes) throws IOException {
        List<String> written = new ArrayList<>();
        for (Shape s : shapes) {
            String points =
                    s.isTriangle
                            ? Text.format(
                                    "[[%d,%d],[%d,%d],[%d,%d]]",
                                    s.left,
                                    s.top,
                                    s.left + s.width,
                                    s.top,
                                    s.left,
                                    s.top + s.height)
                            : Text.format(
                                    "[[%d,%d],[%d,%d]]",
                                    s.left, s.top, s.left + s.width, s.top + s.height);
            written.add(
                    String.format(
                            Locale.ROOT,
                            "{\"label\":\"%s\",\"shape_type\":\"%s\",\"points\":%s}",
                            CLASSES.get(s.label),
                            s.isTriangle ? "polygon" : "rectangle",
                            points));
        }
        inFolder(
                labels ->
                        labels.image("a.png", WIDTH, HEIGHT)
                                .text("labels.txt", CLASSES.toArray(String[]::new))
                                .text(
                                        "a.json",
                                        "{\"shapes\":[" + String.join(",", written) + "],",
                                        "\"imagePath\":\"a.png\"}"),
                SourceFormat.LABELME,
                shapes,
                1e-4);
    }

    @Property(tries = 60)
    void voc(@ForAll("shapes") List<Shape> all) throws IOException {
        List<Shape> shapes = all.stream().filter(shape -> !shape.isTriangle).toList();
        StringBuilder objects = new StringBuilder();
        for (Shape s : shapes) {
            objects.append(
                    Text.format(
                            ("<object><name>%s</name><bndbox><xmin>%d</xmin><ymin>%d</ymin><xmax>%d</xmax>"
                                    + "<ymax>%d</ymax></bndbox></object>"),
                            CLASSES.get(s.label),
                            s.left + 1,
                            s.top + 1,
                            s.left + s.width,
                            s.top + s.height));
        }
        inFolder(
                labels ->
                        labels.image("JPEGImages/a.png", WIDTH, HEIGHT)
                                .text("classes.txt", CLASSES.toArray(String[]::new))
                                .text(
                                        "Annotations/a.xml",
                                        "<annotation>" + objects,
                                        "</annotation>"),
                SourceFormat.VOC,
                shapes,
                0);
    }

    /** Writes the labels of a format, converts them, and reads the result as training does. */
    private static void inFolder(
            Consumer<Labels> writer, SourceFormat format, List<Shape> shapes, double rounding)
            throws IOException {
        Path folder = Files.createTempDirectory("labels");
        Path target = Files.createTempDirectory("coco");
        try {
            writer.accept(new Labels(folder));
            SourceLabels read = format.read(folder, () -> {});
            try (OutputFolder output =
                    OutputFolder.create(target, "convert-data", false, List.of())) {
                Conversion.write(read, List.of(TargetFormat.COCO), output, () -> {});
                output.finish();
            }
            CocoDataset coco =
                    CocoDataset.open(
                            target.resolve("annotations_train.json"),
                            target.resolve("images"),
                            List.of());
            assertEquals(CLASSES, coco.classes());
            assertEquals(1, coco.size());
            List<Annotation> objects = coco.annotations(0);
            assertEquals(shapes.size(), objects.size());
            for (int i = 0; i < shapes.size(); i++) {
                require(shapes.get(i), objects.get(i), rounding);
            }
        } finally {
            MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
            MoreFiles.deleteRecursively(target, RecursiveDeleteOption.ALLOW_INSECURE);
        }
    }

    private static void require(Shape shape, Annotation object, double rounding) {
        assertEquals(shape.label, object.label());
        Annotation.Bbox box = object.box();
        assertArrayEquals(
                new double[] {shape.left, shape.top, shape.width, shape.height},
                new double[] {box.x(), box.y(), box.width(), box.height()},
                rounding);
        double area = shape.width * shape.height * (shape.isTriangle ? 0.5 : 1);
        assertEquals(area, object.area(), 50 * rounding);
        if (shape.isTriangle) {
            double[] ring = ((Segmentation.Polygons) object.segmentation()).rings().get(0);
            assertArrayEquals(shape.triangle(), ring, rounding);
        } else {
            assertEquals(new Segmentation.None(), object.segmentation());
        }
    }
}
