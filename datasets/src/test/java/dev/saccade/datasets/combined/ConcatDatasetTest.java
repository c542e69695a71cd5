package dev.saccade.datasets.combined;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.ImageFile;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

import javax.imageio.ImageIO;

/** Concatenated data sets, and data sets with labels of some classes. */
class ConcatDatasetTest {

    @TempDir Path folder;

    /** Images of 40x40 pixels, each with an object per label. */
    private record Scenes(String name, List<String> classes, List<List<Integer>> labels)
            implements Dataset {

        @Override
        public List<ImageFile> images() {
            return IntStream.range(0, labels.size())
                    .mapToObj(i -> new ImageFile(i + 5L, Path.of(name + i), new Size(40, 40)))
                    .toList();
        }

        @Override
        public List<Annotation> annotations(int index) {
            return labels.get(index).stream()
                    .map(label -> Annotation.of(9, label, 1, 1, 10, 10))
                    .toList();
        }
    }

    private static final Scenes A =
            new Scenes("a", List.of("cup", "fork"), List.of(List.of(0), List.of(1, 1)));
    private static final Scenes B = new Scenes("b", List.of("cup", "fork"), List.of(List.of(1)));
    private static final Scenes NONE = new Scenes("none", List.of("cup", "fork"), List.of());

    private static List<String> names(Dataset dataset) {
        return dataset.images().stream().map(image -> image.file().toString()).toList();
    }

    @Test
    void numbersImagesAndAnnotations() {
        ConcatDataset all = new ConcatDataset(List.of(NONE, A, NONE, B, NONE), List.of());
        assertEquals(List.of("a0", "a1", "b0"), names(all));
        assertEquals(List.of(1L, 2L, 3L), all.images().stream().map(ImageFile::id).toList());
        assertEquals(List.of(2L, 3L), all.annotations(1).stream().map(Annotation::id).toList());
        assertEquals(List.of(4L), all.annotations(2).stream().map(Annotation::id).toList());
        assertEquals(1, all.annotations(2).get(0).label());
        assertEquals(3, all.size());
    }

    @Test
    void repeatsImages() {
        ConcatDataset all = new ConcatDataset(List.of(A, B), List.of(1, 3));
        assertEquals(List.of("a0", "a1", "b0", "b0", "b0"), names(all));
        assertEquals(
                List.of(0, 0, 0, 1, 2), IntStream.range(0, 5).mapToObj(all::repetition).toList());
        assertEquals(all.image(2), all.image(4));
        assertEquals(all.annotations(2), all.annotations(4));
    }

    @Test
    void requiresTheSameClasses() {
        Scenes other = new Scenes("c", List.of("fork", "cup"), List.of());
        String message =
                assertThrows(
                                SaccadeException.class,
                                () -> new ConcatDataset(List.of(A, other), List.of()))
                        .getMessage();
        assertEquals(
                "concat: data set 2 has classes [fork, cup], but data set 1 has [cup, fork]; use"
                        + " the same classes in the same order",
                message);
    }

    @Test
    void checksAllDataSets() throws IOException {
        writeImage(folder.resolve("a.png"), 1);
        writeImage(folder.resolve("b.png"), 2);
        write("a.json", "a.png");
        write("b.json", "b.png");
        write("c.json", "missing.png");
        CheckOptions options = new CheckOptions(false, TargetKind.BOXES, 1, () -> {});
        DatasetReport report = concat("a", "b").check(folder, options);
        assertEquals(0, report.errors(), report.toString());
        assertEquals(2, report.statistics().images());
        assertEquals(1, concat("a", "c").check(folder, options).errors());
        assertFalse(concat("a", "b").repeatsImages());
        assertTrue(Configs.with(concat("a", "b"), "repeats=[1, 2]").repeatsImages());
        SaccadeException wrong =
                assertThrows(
                        SaccadeException.class,
                        () -> Configs.with(concat("a", "b"), "repeats=[1]"));
        assertTrue(
                wrong.getMessage().contains("one number for each of the 2 data sets"),
                wrong.getMessage());
    }

    private static ConcatDataset.Config concat(String... names) {
        return Configs.of(
                ConcatDataset.Config.class,
                "datasets=["
                        + String.join(
                                ", ",
                                List.of(names).stream()
                                        .map(
                                                name ->
                                                        "{type: coco, annotations: "
                                                                + name
                                                                + ".json, images: .}")
                                        .toList())
                        + "]");
    }

    private void write(String file, String image) throws IOException {
        Files.writeString(
                folder.resolve(file),
                """
                {"images": [{"id": 1, "file_name": "%s", "width": 40, "height": 40}],
                 "categories": [{"id": 1, "name": "cup"}],
                 "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "iscrowd": 0,
                   "bbox": [2, 3, 20, 10], "area": 200}]}
                """
                        .formatted(image));
    }

    @Test
    void unlabeledClassesAreIgnoredInTheWholeImage() {
        PartiallyLabeledDataset part =
                new PartiallyLabeledDataset(A, List.of("spoon", "fork", "cup"), List.of("fork"));
        List<Annotation> objects = part.annotations(1);
        assertEquals(List.of(1, 1, 0, 2), objects.stream().map(Annotation::label).toList());
        assertEquals(
                List.of(false, false, true, true),
                objects.stream().map(Annotation::crowd).toList());
        assertEquals(new Annotation.Bbox(0, 0, 40, 40), objects.get(2).box());
        assertEquals(
                List.of(-1, 0, 2), part.annotations(0).stream().map(Annotation::label).toList());
        assertEquals(
                4,
                IntStream.range(0, 2)
                        .mapToObj(part::annotations)
                        .flatMap(List::stream)
                        .filter(Annotation::crowd)
                        .map(Annotation::id)
                        .distinct()
                        .count());
        assertEquals(
                "partially_labeled: class spoon is not in the data set, which has [cup, fork];"
                        + " correct labeled",
                assertThrows(
                                SaccadeException.class,
                                () ->
                                        new PartiallyLabeledDataset(
                                                A, List.of("spoon"), List.of("spoon")))
                        .getMessage());
    }

    @Test
    void pathsOfAPartialDataSetAreBelowItsRoot() throws IOException {
        Files.createDirectories(folder.resolve("part"));
        writeImage(folder.resolve("part/a.png"), 1);
        write("part/a.json", "a.png");
        PartiallyLabeledDataset.Config config =
                Configs.of(
                        PartiallyLabeledDataset.Config.class,
                        "dataset={type: coco, annotations: a.json, images: .}",
                        "classes=[cup, fork]",
                        "labeled=[cup]",
                        "root=part");
        assertEquals(Optional.of(Path.of("part")), config.root());
        assertEquals(List.of("cup", "fork"), config.open(folder).classes());
        CheckOptions options = new CheckOptions(false, TargetKind.BOXES, 1, () -> {});
        assertEquals(List.of(), config.check(folder, options).findings());
    }

    private static void writeImage(Path file, int seed) throws IOException {
        BufferedImage image = new BufferedImage(40, 40, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < 40; y++) {
            for (int x = 0; x < 40; x++) {
                image.setRGB(x, y, (x / 7 * 0x1A0B05 + y / 5 * 0x091F2C) ^ ((x * y) >> seed));
            }
        }
        ImageIO.write(image, "png", file.toFile());
    }
}
