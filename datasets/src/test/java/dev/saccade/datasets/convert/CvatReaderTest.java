package dev.saccade.datasets.convert;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.convert.formats.SourceFormat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

/** What CVAT's XML for images means. */
class CvatReaderTest {

    @TempDir Path folder;
    private Labels labels;

    @BeforeEach
    void images() {
        labels = new Labels(folder);
        labels.image("images/day/a.png", 8, 6).image("images/b.png", 8, 6);
    }

    private void write(String... lines) {
        labels.text(
                "annotations.xml",
                "<?xml version=\"1.0\" encoding=\"utf-8\"?>",
                "<annotations><version>1.1</version><meta><task><labels>",
                "<label><name>dog</name><attributes><attribute><name>age</name></attribute>"
                        + "</attributes></label>",
                "<label><name>cat</name></label></labels></task></meta>",
                String.join("\n", lines),
                "</annotations>");
    }

    @Test
    void boxesPolygonsAndMasksAreRead() {
        write(
                "<image id=\"0\" name=\"day/a.png\" subset=\"Validation\" width=\"8\" height=\"6\">",
                "<box label=\"cat\" occluded=\"0\" xtl=\"1.5\" ytl=\"1\" xbr=\"4\" ybr=\"3\">",
                "<attribute name=\"age\">3</attribute></box>",
                "<polygon label=\"dog\" points=\"1,1;4,1;4,5\" z_order=\"0\"></polygon>",
                "<mask label=\"dog\" rle=\"1, 2, 1, 2\" left=\"2\" top=\"1\" width=\"3\""
                        + " height=\"2\"/>",
                "<polyline label=\"dog\" points=\"1,1;2,2\"/><tag label=\"dog\"/>",
                "</image>",
                "<image id=\"1\" name=\"b.png\" width=\"8\" height=\"6\"/>");
        SourceLabels read = labels.read(SourceFormat.CVAT);
        assertEquals(List.of("dog", "cat"), read.classes());
        List<Annotation> objects = read.images().get(1).objects();
        assertEquals(new Annotation.Bbox(1.5, 1, 2.5, 2), objects.get(0).box());
        assertEquals(6, objects.get(1).area());
        byte[] expected = new byte[48];
        for (int pixel : new int[] {8 + 3, 8 + 4, 16 + 3, 16 + 4}) {
            expected[pixel] = 1;
        }
        assertArrayEquals(expected, objects.get(2).segmentation().mask(new Size(6, 8)).decode());
        assertEquals(1, read.images(Split.VAL).size());
        assertEquals(
                List.of(
                        "warning annotations.xml: skipped 1 <polyline>, which have no box or"
                                + " outline",
                        "warning .: skipped 1 <tag>, because other labels are objects",
                        "warning .: 1 of 3 objects have a box but no outline; they are kept for"
                                + " box-only models, but mask models reject them"),
                labels.findings(read));
    }

    @Test
    void tagsBecomeImageClasses() {
        write(
                "<image id=\"0\" name=\"day/a.png\" width=\"8\" height=\"6\">",
                "<tag label=\"cat\" source=\"manual\"></tag></image>",
                "<image id=\"1\" name=\"b.png\" width=\"8\" height=\"6\"/>");
        SourceLabels read = labels.read(SourceFormat.CVAT);
        assertTrue(read.imageClasses());
        assertEquals(List.of("dog", "cat"), read.classes());
        assertEquals(1, read.images().size());
        assertEquals(1, read.images().get(0).objects().get(0).label());
        assertEquals(List.of("warning .: 1 image without <tag> skipped"), labels.findings(read));
    }

    @Test
    void rotatedBoxesBecomeOutlines() {
        write(
                "<image id=\"0\" name=\"b.png\" width=\"8\" height=\"6\">",
                "<box label=\"cat\" xtl=\"2\" ytl=\"2\" xbr=\"6\" ybr=\"4\" rotation=\"90\"/>",
                "</image>");
        Annotation object = labels.read(SourceFormat.CVAT).images().get(0).objects().get(0);
        assertEquals(3, object.box().x(), 1e-9);
        assertEquals(1, object.box().y(), 1e-9);
        assertEquals(4, object.box().height(), 1e-9);
        assertEquals(8, object.area(), 1e-9);
    }

    @Test
    void reportsEveryFaultWithItsLine() {
        write(
                "<image id=\"0\" name=\"b.png\" width=\"8\" height=\"6\">",
                "<box label=\"cow\" xtl=\"1\" ytl=\"1\" xbr=\"4\" ybr=\"3\"/>",
                "<box label=\"cat\" xtl=\"one\" ytl=\"1\" xbr=\"4\" ybr=\"3\"/>",
                "<polygon label=\"dog\" points=\"1,1;4\"/>",
                "<mask label=\"dog\" rle=\"1, 9\" left=\"2\" top=\"1\" width=\"3\" height=\"2\"/>",
                "<mask label=\"dog\" rle=\"0, 6\" left=\"7\" top=\"1\" width=\"3\" height=\"2\"/>",
                "<mask label=\"dog\" rle=\"0, 6\" left=\"7\" top=\"1\" width=\"99999\""
                        + " height=\"99999\"/>",
                "</image>",
                "<image id=\"1\" name=\"../../gone.png\" width=\"8\" height=\"6\"/>");
        assertEquals(
                List.of(
                        "ERROR annotations.xml:13: image ../../gone.png does not exist",
                        "ERROR annotations.xml:6: class \"cow\" is not in the classes [cat, dog];"
                                + " did you mean cat?",
                        "ERROR annotations.xml:7: xtl: got \"one\", expected a decimal number",
                        "ERROR annotations.xml:8: points: got \"4\", expected x,y;x,y;...",
                        "ERROR annotations.xml:9: rle: got \" 9\", expected run lengths of 6 pixels"
                                + " in total",
                        "ERROR annotations.xml:10: mask of 2x3 at row 1 and column 7 exceeds the"
                                + " image of 6x8",
                        "ERROR annotations.xml:11: got a mask of 99999 by 99999 pixels, expected 1"
                                + " to 268 million pixels"),
                labels.findings(SourceFormat.CVAT).stream()
                        .filter(told -> told.startsWith("ERROR"))
                        .toList());
    }

    @Test
    void rejectsVideoTracks() {
        write("<track id=\"0\" label=\"cat\"><box frame=\"0\"/></track>");
        assertEquals(
                "ERROR annotations.xml:5: contains video tracks; export \"CVAT for images 1.1\""
                        + " instead",
                labels.findings(SourceFormat.CVAT).get(0));
    }

    @Test
    void anEllipseIsRotated() {
        write(
                "<image id=\"0\" name=\"b.png\" width=\"8\" height=\"6\">",
                "<ellipse label=\"cat\" cx=\"4\" cy=\"3\" rx=\"2\" ry=\"0.5\""
                        + " rotation=\"90\"/></image>");
        Annotation.Bbox box = labels.read(SourceFormat.CVAT).images().get(0).objects().get(0).box();
        assertEquals(1, box.y(), 1e-9);
        assertEquals(4, box.height(), 1e-9);
        assertEquals(1, box.width(), 1e-9);
    }
}
