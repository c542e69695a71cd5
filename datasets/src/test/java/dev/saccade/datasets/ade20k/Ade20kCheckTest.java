package dev.saccade.datasets.ade20k;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.ClassBalancedDataset;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.PixelStatistics;
import dev.saccade.datasets.image.ImageFiles;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

class Ade20kCheckTest {

    private static final Ade20kDataset.Config CONFIG =
            Configs.of(Ade20kDataset.Config.class, "classes=[sky, road, car]");

    @TempDir Path folder;

    @Test
    void countsThePixelsOfEveryClass() {
        new LabelFiles(folder)
                .add("a", 4, 10, (x, y) -> x)
                .add("b", 4, 10, (x, y) -> x == 0 ? 255 : 1);
        DatasetReport report = check(TargetKind.LABEL_MAPS, 2);
        assertEquals(List.of(), report.findings());
        PixelStatistics held = (PixelStatistics) report.statistics();
        assertEquals(2, held.images());
        assertEquals(60, held.pixels());
        assertEquals(20, held.ignored());
        assertEquals(List.of("sky", "road", "car"), List.copyOf(held.classes().keySet()));
        assertEquals(new PixelStatistics.PerClass(40, 2 / 3.0, 2), held.classes().get("sky"));
        assertEquals(new PixelStatistics.PerClass(10, 1 / 6.0, 1), held.classes().get("car"));
    }

    @Test
    void rejectsClassBalancedLabelMaps() throws IOException {
        new LabelFiles(folder).add("a", 40, 40, (x, y) -> 1 + x % 3);
        Dataset.Config balanced = new ClassBalancedDataset.Config(CONFIG, 0.5, true);
        CheckOptions options = new CheckOptions(true, TargetKind.LABEL_MAPS, 1, () -> {});
        assertFindings(
                balanced.check(folder, options),
                "class_balanced: requires labeled objects, but none of 1 image has an object; remove"
                        + " class_balanced for data sets of label maps");
        Files.delete(folder.resolve("annotations/training/a.png"));
        assertFindings(balanced.check(folder, options), "has no file that ends in \".png\"");
    }

    @Test
    void requiresAPixelWithAClass() {
        new LabelFiles(folder).add("a", 4, 10, (x, y) -> 0).add("b", 4, 10, (x, y) -> 255);
        assertFindings(
                check(TargetKind.LABEL_MAPS, 1),
                "a.png: all pixels are ignored",
                "b.png: all pixels are ignored",
                "training: no pixel of any label map has a class");
    }

    @Test
    void findsAllFaultsInOnePassWithAnyNumberOfThreads() {
        byte[] jpeg = ImageFiles.jpeg(40, 30);
        byte[] sound = LabelFiles.gray(40, 30, 8, (x, y) -> 1);
        byte[] damaged = sound.clone();
        damaged[sound.length - 20] ^= 0x55;
        new LabelFiles(folder)
                .add("a", 40, 30, (x, y) -> x == 3 ? 4 : 1)
                .photo("b", jpeg)
                .labels("b", LabelFiles.gray(30, 40, 8, (x, y) -> 1))
                .photo("c", ImageFiles.withOrientation(jpeg, 6))
                .labels("c", sound)
                .photo("d", jpeg)
                .labels("d", ImageFiles.png(40, 30, BufferedImage.TYPE_3BYTE_BGR))
                .photo("e", jpeg)
                .labels("e", damaged)
                .photo("f", Arrays.copyOf(jpeg, jpeg.length - 20))
                .labels("f", sound)
                .add("g", 40, 30, (x, y) -> 0)
                .photo("h", jpeg)
                .labels("i", sound);
        DatasetReport report = check(TargetKind.LABEL_MAPS, 3);
        assertFindings(
                report,
                "h.jpg: has no matching label map",
                "i.png: has no matching image",
                "a.png: value 4 in 30 pixels, first in row 0, column 3; expected 0",
                "b.png: is 40x30 (height x width), but its image",
                "EXIF orientation 6",
                "d.png: PNG is RGB",
                "e.png: PNG is damaged",
                "f.jpg: JPEG is truncated",
                "g.png: all pixels are ignored");
        assertEquals(8, report.errors());
        assertEquals(report, check(TargetKind.LABEL_MAPS, 1));
    }

    @Test
    void reportsMissingFolders() {
        assertFindings(
                check(TargetKind.LABEL_MAPS, 1),
                "images/training: no such folder",
                "annotations/training: no such folder");
    }

    @Test
    void reportsFoldersWithoutAFileOfTheSuffix() {
        new LabelFiles(folder)
                .write("images/training/a.png", new byte[1])
                .write("annotations/training/a.PNG", new byte[1]);
        assertFindings(
                check(TargetKind.LABEL_MAPS, 1),
                "images/training: has no file that ends in \".jpg\"",
                "annotations/training: has no file that ends in \".png\"");
    }

    @Test
    void rejectsDetectors() {
        new LabelFiles(folder).add("a", 4, 10, (x, y) -> x);
        assertFindings(
                check(TargetKind.MASKS, 1),
                "has label maps, but the model detects objects; train a segmenter, or use another"
                        + " data set");
    }

    private DatasetReport check(TargetKind targets, int threads) {
        int[] seen = {0};
        DatasetReport report =
                CONFIG.check(folder, new CheckOptions(true, targets, threads, () -> seen[0]++));
        assertTrue(seen[0] >= report.statistics().images());
        return report;
    }

    private static void assertFindings(DatasetReport report, String... expected) {
        List<String> lines = report.findings().stream().map(Finding::toString).toList();
        assertEquals(expected.length, lines.size(), String.join("\n", lines));
        for (int i = 0; i < expected.length; i++) {
            assertTrue(lines.get(i).contains(expected[i]), lines.get(i));
        }
    }
}
