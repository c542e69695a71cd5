package dev.saccade.datasets.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.datasets.Split;
import dev.saccade.datasets.convert.formats.SourceFormat;
import dev.saccade.datasets.image.ImageFiles;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** What the XML files of Pascal VOC mean. */
class VocReaderTest {

    @TempDir Path folder;
    private Labels labels;

    @BeforeEach
    void images() {
        labels = new Labels(folder);
        labels.image("JPEGImages/a.png", 100, 50).image("JPEGImages/b.png", 100, 50);
        write("a", object("dog", 1, 1, 100, 50, 0));
        write("b", object("cat", 11, 21, 20, 30, 1));
    }

    private void write(String id, String... objects) {
        labels.text(
                "Annotations/" + id + ".xml",
                "<annotation>",
                "<filename>" + id + ".png</filename>",
                "<size><width>100</width><height>50</height><depth>3</depth></size>",
                String.join("\n", objects),
                "</annotation>");
    }

    private static String object(String name, Object... edges) {
        return String.format(
                Locale.ROOT,
                ("<object><name>%s</name><bndbox><xmin>%s</xmin><ymin>%s</ymin><xmax>%s</xmax>"
                        + "<ymax>%s</ymax></bndbox><difficult>%s</difficult>"
                        + "<part><name>head</name><bndbox><xmin>3</xmin></bndbox></part></object>"),
                name,
                edges[0],
                edges[1],
                edges[2],
                edges[3],
                edges.length > 4 ? edges[4] : 0);
    }

    @Test
    void boxesAreFromTheFirstToTheLastPixelAndDifficultOnesAreCrowds() {
        SourceLabels read = labels.read(SourceFormat.VOC);
        assertEquals(List.of("cat", "dog"), read.classes());
        assertEquals(
                List.of(
                        "JPEGImages/a.png dog [0.0, 0.0, 100.0, 50.0]",
                        "JPEGImages/b.png cat [10.0, 20.0, 10.0, 10.0] crowd"),
                Labels.describe(read));
        assertEquals(List.of(), labels.findings(read));
    }

    @Test
    void boxesThatBeginAtZeroCountFromZero() {
        write("b", object("cat", 0, 20, 20, 30));
        SourceLabels read = labels.read(SourceFormat.VOC);
        assertEquals(
                List.of(
                        "JPEGImages/a.png dog [1.0, 1.0, 99.0, 49.0]",
                        "JPEGImages/b.png cat [0.0, 20.0, 20.0, 10.0]"),
                Labels.describe(read));
        assertTrue(read.notes().get(0).startsWith("a box starts at 0"), read.notes().toString());
    }

    @Test
    void listsDefineSplitsAndOtherImagesAreLeftOut() {
        labels.image("JPEGImages/c.png", 100, 50);
        write("c", object("cat", 1, 1, 2, 2));
        labels.text("ImageSets/Main/train.txt", "a", "gone");
        labels.text("ImageSets/Main/val.txt", "b  1");
        labels.text("ImageSets/Main/trainval.txt", "a", "b");
        labels.text("ImageSets/Main/cat_train.txt", "a -1");
        SourceLabels read = labels.read(SourceFormat.VOC);
        assertEquals(1, read.images(Split.TRAIN).size());
        assertEquals(1, read.images(Split.VAL).size());
        assertEquals(
                List.of(
                        "ERROR ImageSets/Main/train.txt:2: file gone.xml does not exist",
                        "warning .: 1 of 3 labeled images are not in any list of ImageSets/Main/;"
                                + " skipped"),
                labels.findings(read));
    }

    @Test
    void rejectsClassesThatAreNotListed() {
        labels.text("labels.txt", "dog", "cart");
        SourceLabels read = labels.read(SourceFormat.VOC);
        assertEquals(List.of("dog", "cart"), read.classes());
        assertEquals(
                List.of(
                        "ERROR Annotations/b.xml:4: class \"cat\" is not in the classes [cart,"
                                + " dog]; did you mean cart?"),
                labels.findings(read));
    }

    @Test
    void reportsEveryFaultWithItsLine() {
        write(
                "a",
                object("dog", 5, 5, 3, 9),
                object("dog", "1,5", 5, 4, 9),
                object("dog", 200, 5, 300, 9),
                "<object><name>dog</name></object>",
                object("", 5, 5, 6, 9),
                object("dog", 90, 5, 120, 9));
        write("gone", object("dog", 1, 1, 2, 2));
        labels.image("JPEGImages/small.png", 10, 10);
        write("small", object("dog", 2, 2, 3, 3));
        labels.text("Annotations/broken.xml", "<annotation>", "<object>", "</annotation>");
        labels.image("JPEGImages/broken.png", 10, 10);
        List<String> told = labels.findings(SourceFormat.VOC);
        assertEquals(
                List.of(
                        "ERROR Annotations/gone.xml: image gone.png does not exist",
                        "ERROR Annotations/a.xml:4: got box [4.0, 4.0, 3.0, 9.0], expected"
                                + " [left, top, right, bottom], right >= left, bottom >= top",
                        "ERROR Annotations/a.xml:5: xmin: got \"1,5\", expected a decimal number",
                        "warning Annotations/a.xml:6: box [199.0, 4.0, 300.0, 9.0] lies outside of"
                                + " 100x50; skipped",
                        "ERROR Annotations/a.xml:7: object has no bndbox with xmin, ymin, xmax and"
                                + " ymax",
                        "ERROR Annotations/a.xml:8: object has no name",
                        "warning Annotations/a.xml:9: box [89.0, 4.0, 120.0, 9.0] exceeds 100x50;"
                                + " clipped",
                        "ERROR Annotations/small.xml: states 50x100 (height x width), but"
                                + " JPEGImages/small.png is 10x10; the labels refer to another"
                                + " image"),
                told.stream().filter(line -> !line.contains("broken")).toList());
        assertTrue(
                told.stream()
                        .anyMatch(
                                line ->
                                        line.startsWith(
                                                "ERROR Annotations/broken.xml:3:3: invalid XML:")),
                told.toString());
    }

    @Test
    void reportsLabelsThatIgnoreExifOrientation() {
        labels.bytes("JPEGImages/a.png", ImageFiles.withOrientation(ImageFiles.jpeg(100, 50), 6));
        assertEquals(
                List.of(
                        "ERROR Annotations/a.xml: states 50x100 (height x width), but"
                                + " JPEGImages/a.png is 100x50 upright; the labels refer to the"
                                + " image without EXIF orientation 6"),
                labels.findings(SourceFormat.VOC).stream()
                        .filter(told -> told.startsWith("ERROR"))
                        .toList());
    }

    @Test
    void doesNotExpandEntities() {
        labels.text("secret.txt", "secret");
        labels.text(
                "Annotations/a.xml",
                "<?xml version=\"1.0\"?>",
                "<!DOCTYPE a [<!ENTITY x SYSTEM \"file://" + folder + "/secret.txt\">",
                "<!ENTITY l \"lol\"><!ENTITY m \"&l;&l;&l;&l;&l;&l;&l;&l;&l;&l;\">]>",
                "<annotation><filename>&x;&m;</filename></annotation>");
        List<String> told = labels.findings(SourceFormat.VOC);
        assertEquals(1, told.size(), told.toString());
        assertTrue(told.get(0).startsWith("ERROR Annotations/a.xml:4:"), told.toString());
    }

    @Test
    void rejectsDeeplyNestedXml() {
        labels.text("Annotations/a.xml", "<annotation>" + "<a>".repeat(100_000));
        assertEquals(
                List.of("ERROR Annotations/a.xml:1: elements are nested deeper than 100 levels"),
                labels.findings(SourceFormat.VOC));
    }

    @Test
    void readsTheUprightBoxAroundARotatedOne() {
        write(
                "a",
                object("dog", 20, 10, 60, 30)
                        .replace(
                                "</object>",
                                "<attributes><attribute><name>rotation</name><value>90.0</value>"
                                        + "</attribute></attributes></object>"),
                object("dog", 0, 0, 2, 2));
        assertEquals(
                "JPEGImages/a.png dog [30.0, 0.0, 20.0, 40.0]",
                Labels.describe(labels.read(SourceFormat.VOC))
                        .get(0)
                        .replaceAll("\\.0000000\\d+", ".0"));
    }

    @Test
    void readsTheFilenameIfTwoImagesMatch() {
        labels.image("JPEGImages/a.bmp", 10, 10);
        assertEquals(List.of(), labels.findings(SourceFormat.VOC));
        labels.text(
                "Annotations/a.xml",
                "<annotation><filename>gone</filename>" + object("dog", 1, 1, 9, 9),
                "</annotation>");
        assertTrue(
                labels.findings(SourceFormat.VOC).stream()
                        .anyMatch(f -> f.contains("JPEGImages/a.bmp or JPEGImages/a.png")));
    }

    @Test
    void listsNameTheFilesOfTheirOwnFolder() {
        for (String year : List.of("VOC2007", "VOC2012")) {
            labels.image(year + "/JPEGImages/c.png", 10, 10);
            labels.text(
                    year + "/Annotations/c.xml",
                    "<annotation>" + object("dog", 1, 1, 9, 9),
                    "</annotation>");
        }
        labels.text("VOC2007/ImageSets/Main/train.txt", "c");
        labels.text("VOC2012/ImageSets/Main/val.txt", "c");
        SourceLabels read = labels.read(SourceFormat.VOC);
        assertEquals("VOC2007/JPEGImages/c.png", read.images(Split.TRAIN).get(0).name());
        assertEquals("VOC2012/JPEGImages/c.png", read.images(Split.VAL).get(0).name());
    }
}
