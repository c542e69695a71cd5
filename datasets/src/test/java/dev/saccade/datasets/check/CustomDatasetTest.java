package dev.saccade.datasets.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.Lists;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.PixelStatistics;
import dev.saccade.datasets.TrainingTargets;
import dev.saccade.datasets.image.ImageFiles;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A data set that a program makes: three methods. */
class CustomDatasetTest {

    /** As a user writes one. */
    private record Own(List<String> classes, List<ImageFile> images, List<List<Annotation>> objects)
            implements Dataset {

        @Override
        public List<Annotation> annotations(int index) {
            return objects.get(index);
        }
    }

    private record OwnLabels(List<String> classes, List<ImageFile> images, List<LabelMap> maps)
            implements Dataset {

        @Override
        public LabelMap labels(int index) {
            return maps.get(index);
        }
    }

    private static final Size SIZE = new Size(48, 64);

    @TempDir private Path folder;
    private ImageFile first;
    private ImageFile second;

    @BeforeEach
    void writeImages() throws IOException {
        first = ImageFile.read(1, write("a.jpg", ImageFiles.jpeg(64, 48)));
        second = ImageFile.read(2, write("b.jpg", ImageFiles.jpeg(64, 48)));
    }

    private Path write(String name, byte[] bytes) throws IOException {
        return Files.write(folder.resolve(name), bytes);
    }

    private static DatasetReport check(Dataset dataset, TargetKind targets) {
        return DatasetCheck.run(dataset, new CheckOptions(false, targets, 2, () -> {}));
    }

    private static List<String> told(DatasetReport report, Finding.Severity severity) {
        return report.findings().stream()
                .filter(finding -> finding.severity() == severity)
                .map(Finding::toString)
                .toList();
    }

    @Test
    void imagesHaveTheirDecodedSize() throws IOException {
        byte[] turned = ImageFiles.withOrientation(ImageFiles.jpeg(64, 48), 6);
        ImageFile photo = ImageFile.read(7, write("turned.jpg", turned));
        assertEquals(new ImageFile(7, folder.resolve("turned.jpg"), new Size(64, 48)), photo);
        assertEquals(SIZE, first.size());
        Path missing = folder.resolve("missing.jpg");
        String message =
                assertThrows(SaccadeException.class, () -> ImageFile.read(8, missing)).getMessage();
        assertEquals(missing + ": no such file", message);
    }

    @Test
    void createsAnnotationsFromBoxesOutlinesAndMasks() {
        Annotation box = Annotation.of(1, 2, 10, 20, 8, 4);
        assertEquals(32, box.area());
        assertTrue(TrainingTargets.isUsable(box, SIZE));

        double[] square = {10, 20, 18, 20, 18, 24, 10, 24};
        double[] triangle = {30, 10, 30, 20, 40, 20};
        Annotation outline = Annotation.of(1, 2, square, triangle);
        assertEquals(new Annotation.Bbox(10, 10, 30, 14), outline.box());
        assertEquals(32.0 + 50, outline.area());
        assertEquals(
                Rle.fromPolygons(SIZE, List.of(square, triangle)),
                outline.segmentation().mask(SIZE));

        Rle mask = Rle.fromBox(SIZE, 10, 20, 8, 4);
        Annotation masked = Annotation.of(1, 2, mask);
        assertEquals(mask, masked.segmentation().mask(SIZE));
        assertEquals(box.box(), masked.box());
        assertEquals(box.area(), masked.area());
        assertThrows(
                IllegalArgumentException.class,
                () -> Annotation.of(1, 2, new double[] {1, 2, 3, 4}));
    }

    @Test
    void reportsNothingForValidData() {
        Own own =
                new Own(
                        List.of("cat", "dog"),
                        List.of(first, second),
                        List.of(
                                List.of(Annotation.of(1, 1, Rle.fromBox(SIZE, 4, 4, 20, 20))),
                                List.of()));
        DatasetReport report = check(own, TargetKind.MASKS);
        assertEquals(List.of(), report.findings());
        ObjectStatistics held = (ObjectStatistics) report.statistics();
        assertEquals(
                List.of(2, 1, 1),
                List.of(held.images(), held.imagesWithoutBoxes(), held.objects().boxes()));
        assertEquals(List.of("cat", "dog"), held.classNames());
        assertEquals(1, held.boxesPerClass().get("dog"));
    }

    @Test
    void reportsAllFaultsOfObjects() {
        ImageFile again = new ImageFile(1, second.file(), new Size(64, 48));
        ImageFile gone = new ImageFile(3, folder.resolve("gone.jpg"), SIZE);
        Own own =
                new Own(
                        List.of("cat", "cat"),
                        List.of(first, again, gone),
                        List.of(
                                List.of(
                                        Annotation.of(1, 2, 4, 4, 20, 20),
                                        Annotation.of(1, -1, 4, 4, 20, 20),
                                        Annotation.of(2, 0, 4, 4, 0, 20),
                                        Annotation.of(3, 0, Double.NaN, 4, 20, 20)),
                                List.of(Annotation.of(4, 1, Rle.fromBox(SIZE, 4, 4, 9, 9))),
                                List.of()));
        DatasetReport report = check(own, TargetKind.MASKS);
        String errors = String.join("\n", told(report, Finding.Severity.ERROR));
        String a = first.file().toString();
        Stream.of(
                        "data set: class \"cat\" occurs twice",
                        "data set: image 1: id occurs twice",
                        "data set: annotation 1: id occurs twice",
                        "data set: annotation 1 of image 1 ("
                                + a
                                + "): got label 2, expected 0 to 1",
                        "data set: annotation 3 of image 1 (" + a + "): bbox is not finite",
                        second.file() + ": image 1: is 48x64 (height x width), declared as 64x48",
                        gone.file() + ": image 3: no such file")
                .forEach(line -> assertTrue(errors.contains(line), line + "\nin\n" + errors));
        assertEquals(
                List.of(
                        "data set: annotation 2 of image 1 ("
                                + a
                                + "): bbox [4.0, 4.0, 0.0, 20.0] has no area; training drops it",
                        "data set: annotation 2 of image 1 ("
                                + a
                                + "): area is 0.0; training drops"
                                + " the object"),
                told(report, Finding.Severity.WARNING));
    }

    @Test
    void reportsObjectsWithoutMasksIfMasksAreTrained() {
        Own own =
                new Own(
                        List.of("cat"),
                        List.of(first),
                        List.of(List.of(Annotation.of(1, 0, 4, 4, 20, 20))));
        assertEquals(List.of(), check(own, TargetKind.BOXES).findings());
        assertTrue(
                told(check(own, TargetKind.MASKS), Finding.Severity.ERROR)
                        .get(0)
                        .contains("no object has a segmentation, but the model trains on masks"));
    }

    @Test
    void reportsUnreadableImages() {
        List<ImageFile> lazy =
                Lists.transform(
                        List.of(0, 1, 2),
                        i -> ImageFile.read(i, folder.resolve("abc".charAt(i) + ".jpg")));
        Own own = new Own(List.of("cat"), lazy, List.of(List.of(), List.of(), List.of()));
        assertEquals(
                List.of(
                        "data set: image at index 2: "
                                + folder.resolve("c.jpg")
                                + ": no such file"),
                told(check(own, TargetKind.BOXES), Finding.Severity.ERROR));
        assertEquals(
                List.of("data set: has no classes", "data set: has no images"),
                told(
                        check(new Own(List.of(), List.of(), List.of()), TargetKind.BOXES),
                        Finding.Severity.ERROR));
    }

    @Test
    void reportsFaultsOfLabelMaps() {
        List<LabelMap> maps = List.of(LabelMap.filled(SIZE, 1), LabelMap.filled(SIZE, 2));
        ImageFile third = new ImageFile(3, first.file(), SIZE);
        OwnLabels own =
                new OwnLabels(
                        List.of("road", "sky"),
                        List.of(first, second, third),
                        List.of(maps.get(0), maps.get(1), LabelMap.filled(new Size(4, 4), 0)));
        DatasetReport report = check(own, TargetKind.LABEL_MAPS);
        assertEquals(
                List.of(
                        "data set: labels of image 2 ("
                                + second.file()
                                + "): got label 2, expected less than 2",
                        "data set: labels of image 3 ("
                                + first.file()
                                + "): are 4x4 (height x width), but the image is 48x64"),
                told(report, Finding.Severity.ERROR));
        PixelStatistics held = (PixelStatistics) report.statistics();
        assertEquals(SIZE.area(), held.classes().get("sky").pixels());
        assertTrue(
                told(check(own, TargetKind.BOXES), Finding.Severity.ERROR).isEmpty(),
                "images without objects are no mistake");
    }
}
