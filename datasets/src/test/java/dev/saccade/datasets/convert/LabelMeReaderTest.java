package dev.saccade.datasets.convert;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.convert.formats.SourceFormat;
import dev.saccade.datasets.image.ImageFiles;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.awt.image.BufferedImage;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** What the JSON files of LabelMe mean. */
class LabelMeReaderTest {

    private static final String TRIANGLE = "[[10, 10], [20, 10], [10, 30]]";

    @TempDir Path folder;
    private Labels labels;

    @BeforeEach
    void image() {
        labels = new Labels(folder).image("a.png", 100, 50);
    }

    private void write(String name, String imagePath, String data, String... shapes) {
        labels.text(
                name,
                "{\"version\": \"5.0.1\", \"flags\": {},",
                "\"imageData\": " + data + ",",
                "\"imagePath\": \"" + imagePath + "\", \"imageHeight\": 50, \"imageWidth\": 100,",
                "\"shapes\": [",
                String.join(",\n", shapes),
                "]}");
    }

    private static String shape(String label, String type, String group, String points) {
        return String.format(
                Locale.ROOT,
                ("{\"label\": \"%s\", \"points\": %s, \"group_id\": %s, \"shape_type\": \"%s\","
                        + " \"flags\": {\"x\": [1]}}"),
                label,
                points,
                group,
                type);
    }

    @Test
    void shapesBecomeOutlinesAndBoxesAndGroupsOneObject() {
        write(
                "a.json",
                "..\\\\photos\\\\a.png",
                "null",
                shape("cat", "polygon", "null", TRIANGLE),
                shape("dog", "rectangle", "null", "[[40, 30], [20, 10]]"),
                shape("dog", "polygon", "1", TRIANGLE),
                shape("cat", "polygon", "1", TRIANGLE.replace("10]", "12]")),
                shape("dog", "rectangle", "1", "[[60, 10], [70, 20]]"),
                shape("__ignore__", "polygon", "null", TRIANGLE));
        SourceLabels read = labels.read(SourceFormat.LABELME);
        assertEquals(
                List.of(
                        "a.png cat [10.0, 10.0, 10.0, 20.0] [3]",
                        "a.png dog [20.0, 10.0, 20.0, 20.0]",
                        "a.png dog [10.0, 10.0, 60.0, 20.0] [3, 4]",
                        "a.png cat [10.0, 12.0, 10.0, 18.0] [3]"),
                Labels.describe(read));
    }

    /** Recorded from the formula of labelme's {@code labelme2coco.py}. */
    @Test
    void circlesBecomeLabelmesPolygons() {
        write("a.json", "a.png", "null", shape("cat", "circle", "null", "[[50, 25], [50, 45]]"));
        SourceLabels read = labels.read(SourceFormat.LABELME);
        assertEquals(List.of("a.png cat [30.0, 5.0, 40.0, 40.0] [12]"), Labels.describe(read));
        double[] large = Outline.Ring.ofEllipse(50, 25, 300, 300).points();
        assertEquals(2 * 38, large.length);
        assertArrayEquals(
                new double[] {50, 325, 99.378377, 320.908391}, Arrays.copyOf(large, 4), 1e-6);
    }

    @Test
    void readsAMissingImageFromImageData() {
        byte[] png = ImageFiles.png(100, 50, 5);
        String data = "\"" + Base64.getEncoder().encodeToString(png) + "\"";
        write("b.json", "b.png", data, shape("cat", "polygon", "null", TRIANGLE));
        write("a.json", "a.png", "\"no base64\"", shape("cat", "polygon", "null", TRIANGLE));
        SourceLabels read = labels.read(SourceFormat.LABELME);
        assertEquals(List.of(), labels.findings(read));
        LabeledImage inside = read.images().get(1);
        assertEquals("b.png", inside.name());
        assertTrue(inside.embedded());
        assertEquals(new Size(50, 100), inside.size());
        assertArrayEquals(png, EmbeddedImage.read(inside.file()));
    }

    @Test
    void reportsEveryFaultWithItsLine() {
        write(
                "a.json",
                "a.png",
                "null",
                shape("cat", "polygon", "null", "[[1, 1], [2, 2]]"),
                shape("", "polygon", "null", TRIANGLE),
                shape("cat", "mask", "null", "[[1, 1], [2, 2]]"),
                shape("cat", "point", "null", "[[1, 1]]"),
                shape("cat", "polygon", "null", "[[1, \"x\"], [2, 2], [3, 3]]"),
                shape("cat", "rectangle", "null", "[[1, 1]]"),
                shape("cat", "circle", "null", "[[1, 1]]"),
                "7");
        write("gone.json", "gone.png", "null");
        labels.text("broken.json", "{\"shapes\": [", "{]");
        assertEquals(
                List.of(
                        "ERROR a.json:5: got a polygon of 2 points, expected 3 or more",
                        "ERROR a.json:6: shape has no label",
                        "ERROR a.json:7: shape_type mask is not supported; expected polygon,"
                                + " rectangle or circle",
                        "warning a.json:8: a point is not an object; skipped",
                        "ERROR a.json:9: points: expected pairs of numbers",
                        "ERROR a.json:10: got a rectangle of 2 numbers, expected two opposite"
                                + " corners",
                        "ERROR a.json:11: got a circle of 2 numbers, expected its center and a"
                                + " point on it",
                        "ERROR a.json:12: expected a shape",
                        "ERROR gone.json: image gone.png does not exist, and imageData is missing"),
                labels.findings(SourceFormat.LABELME).stream()
                        .filter(told -> !told.contains("broken"))
                        .sorted(Comparator.comparing(told -> told.contains("gone")))
                        .toList());
        assertTrue(
                labels.findings(SourceFormat.LABELME).stream()
                        .anyMatch(told -> told.startsWith("ERROR broken.json:2:")),
                labels.findings(SourceFormat.LABELME).toString());
    }

    @Test
    void rejectsTwoLabelFilesOfOneImage() {
        write("a.json", "a.png", "null", shape("cat", "polygon", "null", TRIANGLE));
        write("b.json", "a.png", "null", shape("cat", "polygon", "null", TRIANGLE));
        labels.image("c.png", 10, 10);
        assertEquals(
                List.of(
                        "warning .: 1 image without a label file, such as c.png, is skipped",
                        "ERROR b.json: labels a.png, which a.json also labels; remove one of the"
                                + " two files"),
                labels.findings(SourceFormat.LABELME));
    }

    @Test
    void rejectsInvalidImageDataAndOutsideNames() {
        write("c.json", "gone.png", "\"!!!!\"", shape("cat", "polygon", "null", TRIANGLE));
        write("b.json", "gone.p\\ud800ng", "\"QUJD\"", shape("cat", "polygon", "null", TRIANGLE));
        assertEquals(
                List.of(
                        "warning .: 1 image without a label file, such as a.png, is skipped",
                        "ERROR b.json: image gone.p\\ud800ng does not exist; imageData is"
                                + " only read if imagePath has an image suffix",
                        "ERROR c.json: imageData is not base64: Illegal character '!' (code 0x21) in"
                                + " base64 content"),
                labels.findings(SourceFormat.LABELME));
    }

    @Test
    void classesAreText() {
        write("a.json", "a.png", "null", shape("c\\ud800", "polygon", "null", TRIANGLE));
        assertEquals(
                List.of("ERROR .: class \"c\\ud800\" is not valid Unicode; rename it"),
                labels.findings(SourceFormat.LABELME));
    }

    private static String square(int left, int top, int side) {
        return Text.format(
                "[[%d, %d], [%d, %d], [%d, %d], [%d, %d]]",
                left, top, left + side, top, left + side, top + side, left, top + side);
    }

    private List<Annotation> objects() {
        return labels.read(SourceFormat.LABELME).images().get(0).objects();
    }

    @Test
    void backgroundIsAHoleInTheShapesBeforeIt() {
        write(
                "a.json",
                "a.png",
                "null",
                shape("cat", "polygon", "null", square(10, 10, 30)),
                shape("_background_", "polygon", "null", square(20, 20, 10)),
                shape("_background_", "polygon", "null", square(12, 12, 4)),
                shape("dog", "polygon", "null", square(50, 10, 20)),
                shape("_background_", "rectangle", "null", "[[60, 0], [80, 50]]"),
                shape("cat", "polygon", "null", square(22, 22, 2)));
        List<Annotation> objects = objects();
        assertEquals(900 - 100 - 16, objects.get(0).area(), 1e-9);
        assertEquals(new Annotation.Bbox(10, 10, 30, 30), objects.get(0).box());
        byte[] mask = objects.get(0).segmentation().mask(new Size(50, 100)).decode();
        assertEquals(0, mask[25 * 100 + 25]);
        assertEquals(0, mask[14 * 100 + 14]);
        assertEquals(1, mask[18 * 100 + 18]);
        assertEquals(1, mask[35 * 100 + 25]);
        assertEquals(new Annotation.Bbox(50, 10, 10, 20), objects.get(1).box());
        assertEquals(200, objects.get(1).area(), 1e-9);
        assertEquals(4, objects.get(2).area(), 1e-9);
    }

    @Test
    void backgroundMayDivideAShapeOrLeaveAnIslandOrNothing() {
        write(
                "a.json",
                "a.png",
                "null",
                shape("cat", "polygon", "null", square(10, 10, 30)),
                shape("_background_", "rectangle", "null", "[[20, 0], [30, 50]]"),
                shape("dog", "polygon", "null", square(60, 10, 6)),
                shape("_background_", "polygon", "null", square(55, 5, 20)));
        List<Annotation> objects = objects();
        assertEquals(1, objects.size());
        assertEquals(600, objects.get(0).area(), 1e-9);
        assertTrue(
                objects.get(0).segmentation() instanceof Segmentation.Polygons polygons
                        && polygons.rings().size() == 2);
    }

    @Test
    void backgroundThatCutsNothingAndIgnoredShapesAreReported() {
        write(
                "a.json",
                "a.png",
                "null",
                shape("_background_", "polygon", "null", square(20, 20, 5)),
                shape("cat", "polygon", "null", square(10, 10, 30)),
                shape("__ignore__", "polygon", "null", square(60, 10, 5)));
        List<String> findings = labels.findings(SourceFormat.LABELME);
        assertEquals(2, findings.size());
        assertTrue(findings.get(0).contains("warning a.json:5: _background_"), findings.get(0));
        assertTrue(findings.get(1).contains("warning a.json:7: __ignore__"), findings.get(1));
        assertEquals(900, objects().get(0).area());
    }

    @Test
    void requiresImagePathIfTwoImagesMatch() {
        labels.bytes("a.jpg", ImageFiles.png(100, 50, BufferedImage.TYPE_3BYTE_BGR));
        write("a.json", "gone.png", "null", shape("cat", "polygon", "null", TRIANGLE));
        assertTrue(
                labels.findings(SourceFormat.LABELME).stream()
                        .anyMatch(f -> f.contains("may belong to a.jpg or a.png")));
    }
}
