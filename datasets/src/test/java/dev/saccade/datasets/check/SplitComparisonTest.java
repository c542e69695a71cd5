package dev.saccade.datasets.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.CheckOptions.Depth;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.ObjectStatistics;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.awt.image.BufferedImage;
import java.awt.image.IndexColorModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;

import javax.imageio.ImageIO;

class SplitComparisonTest {

    private static final Size SIZE = new Size(30, 40);

    @TempDir Path folder;

    private final SplitComparison comparison = new SplitComparison();
    private final Map<String, DatasetReport> reports = new LinkedHashMap<>();

    private void check(String part, Depth depth, ImageFile... photos) {
        CheckOptions options = new CheckOptions(depth, TargetKind.BOXES, 2, () -> {});
        Findings findings = new Findings();
        ImageCheck.run(List.of(photos), options.with(comparison.split(part)), findings);
        reports.put(part, findings.report(statistics()));
    }

    private static ObjectStatistics statistics() {
        return ObjectCounts.count(new AnnotationTable.Builder().build(), List.of());
    }

    private ImageFile image(long id, String name, int seed) throws IOException {
        String format = name.substring(name.lastIndexOf('.') + 1);
        BufferedImage image = new BufferedImage(40, 30, BufferedImage.TYPE_INT_RGB);
        Random random = new Random(seed);
        for (int i = 0; i < 1200; i++) {
            image.setRGB(i % 40, i / 40, random.nextInt(1 << 24));
        }
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        ImageIO.write(image, format, file.toFile());
        return new ImageFile(id, file, SIZE);
    }

    private List<String> warnings(String part) {
        return reports.get(part).findings().stream().map(Finding::toString).toList();
    }

    private static void assertContains(String expected, String text) {
        assertTrue(text.contains(expected), text);
    }

    @ParameterizedTest
    @EnumSource(Depth.class)
    void findsDuplicatesWithinAndAcrossSplits(Depth depth) throws IOException {
        ImageFile first = image(1, "a.png", 1);
        ImageFile again = new ImageFile(2, first.file(), SIZE);
        ImageFile other = image(3, "b.png", 2);
        ImageFile renamed = image(7, "val/x.png", 2);
        check("train", depth, first, again, other, image(4, "c.png", 3));
        check(
                "val",
                depth,
                renamed,
                image(8, "val/y.png", 4),
                new ImageFile(9, first.file(), SIZE));
        comparison.complete(reports, Function.identity());
        assertEquals(1, warnings("train").size(), warnings("train").toString());
        assertContains("image 2: is the same file as image 1 (", warnings("train").get(0));
        assertEquals(2, reports.get("val").warnings());
        assertContains(
                "x.png: image 7: has the same content as image 3 of train (",
                warnings("val").get(0));
        assertContains("remove it from train or val", warnings("val").get(0));
        assertContains("image 9: is the same file as image 1 of train", warnings("val").get(1));
    }

    @Test
    void copiesWithLabelsOfOtherClassesAreAllowed() throws IOException {
        CheckOptions options = new CheckOptions(Depth.LABELS, TargetKind.BOXES, 2, () -> {});
        Findings findings = new Findings();
        List<ImageFile> copies = List.of(image(1, "a.png", 1), image(2, "b.png", 1));
        ImageCheck.run(copies, options.with(comparison.split("val", true)), findings);
        reports.put("val", findings.report(statistics()));
        comparison.complete(reports, Function.identity());
        assertEquals(List.of(), warnings("val"));
    }

    @Test
    void findsEqualPixelsInOtherFormatsIfDecoded() throws IOException {
        check("train", Depth.PIXELS, image(1, "a.png", 1));
        check("val", Depth.PIXELS, image(2, "a.bmp", 1));
        comparison.complete(reports, Function.identity());
        assertContains("image 2: has the same content as image 1", warnings("val").get(0));
    }

    @Test
    void filesOfEqualLengthAreNotDuplicates() throws IOException {
        check("train", Depth.LABELS, image(1, "a.bmp", 1), image(2, "b.bmp", 2));
        comparison.complete(reports, Function.identity());
        assertEquals(List.of(), warnings("train"));
    }

    @Test
    void reportsRoboflowCopiesAcrossSplits() throws IOException {
        check(
                "train",
                Depth.HEADERS,
                image(1, "bird_jpg.rf.0123456789abcdef.png", 1),
                image(2, "bird_jpg.rf.fedcba9876543210.png", 2));
        check("val", Depth.HEADERS, image(1, "val/bird_jpg.rf.00001111AbCd2222.png", 3));
        comparison.complete(reports, Function.identity());
        assertEquals(List.of(), warnings("train"));
        assertContains(
                "is named like an augmented copy of image 1 of train", warnings("val").get(0));
    }

    private Path map(String name, int... colors) throws IOException {
        byte[][] rgb = new byte[3][colors.length];
        for (int i = 0; i < colors.length; i++) {
            rgb[0][i] = (byte) (colors[i] >> 16);
            rgb[1][i] = (byte) (colors[i] >> 8);
            rgb[2][i] = (byte) colors[i];
        }
        IndexColorModel palette = new IndexColorModel(8, colors.length, rgb[0], rgb[1], rgb[2]);
        Path file = folder.resolve(name);
        ImageIO.write(
                new BufferedImage(8, 8, BufferedImage.TYPE_BYTE_INDEXED, palette),
                "png",
                file.toFile());
        return file;
    }

    @Test
    void reportsContradictingPalettes() throws IOException {
        reports.put("train", new Findings().report(statistics()));
        reports.put("val", new Findings().report(statistics()));
        comparison.split("train").labelMap(map("a.png", 0, 0x804080, 0x00008E));
        comparison.split("train").labelMap(map("b.png", 0, 0x804080));
        comparison.split("train").labelMap(map("c.png", 0, 0x804080, 0x00008E));
        comparison.split("val").labelMap(map("d.png", 0, 0x804080, 0x00008E, 0, 0));
        comparison.complete(reports, Function.identity());
        assertEquals(0, reports.get("train").warnings() + reports.get("val").warnings());
        comparison.split("val").labelMap(map("e.png", 0, 0x00008E, 0x804080));
        comparison.complete(reports, Function.identity());
        assertEquals(0, reports.get("train").warnings());
        assertEquals(1, reports.get("val").warnings());
        assertContains(
                "index 1 of the palette is color 0,0,142, but 128,64,128 in",
                warnings("val").get(0));
        assertContains("(1 of 2 palettes here differ)", warnings("val").get(0));
    }
}
