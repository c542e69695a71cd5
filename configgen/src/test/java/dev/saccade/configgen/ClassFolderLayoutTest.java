package dev.saccade.configgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.classification.ImageFolderDataset;
import dev.saccade.datasets.folds.FoldDataset;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Folders of images per class are found; other labels have priority. */
class ClassFolderLayoutTest {

    @TempDir Path root;

    private void write(String... files) throws IOException {
        for (String file : files) {
            Path path = root.resolve(file);
            Files.createDirectories(path.getParent());
            Files.createFile(path);
        }
    }

    private static Dataset.Config images(String folder) {
        return new ImageFolderDataset.Config(folder, List.of());
    }

    private static Dataset.Config fold(String folder, FoldDataset.Part part) {
        return new FoldDataset.Config(images(folder), 5, 0, part, 0);
    }

    @ParameterizedTest
    @CsvSource({
        "train, val",
        "training, validation",
        "Train, Valid",
        "train, test",
        "archive/train, archive/val"
    })
    void findsSplits(String train, String val) throws IOException {
        for (String folder : List.of(train, val)) {
            write(folder + "/cat/1.jpg", folder + "/dog/black/2.PNG");
        }
        LabeledFolder found = LabeledFolder.find(root).orElseThrow();
        assertEquals(images(train), found.train());
        assertEquals(Optional.of(images(val)), found.val());
        assertEquals(TargetKind.CLASSES, found.targets());
        assertFalse(found.isHeldOut());
        assertEquals(Optional.empty(), found.unusedTestFolder());
    }

    @Test
    void acceptsValidationImagesOfOneClass() throws IOException {
        write("train/a/1.jpg", "train/b/1.jpg", "val/a/1.jpg");
        Files.createDirectories(root.resolve("val/b"));
        LabeledFolder found = LabeledFolder.find(root).orElseThrow();
        assertEquals(Optional.of(images("val")), found.val());
    }

    @Test
    void prefersValToTest() throws IOException {
        write("train/a/1.jpg", "train/b/1.jpg", "test/a/1.jpg", "test/b/1.jpg");
        write("val/a/1.jpg", "val/b/1.jpg");
        LabeledFolder found = LabeledFolder.find(root).orElseThrow();
        assertEquals(Optional.of(images("val")), found.val());
        assertEquals(Optional.of("test"), found.unusedTestFolder());
    }

    @ParameterizedTest
    @CsvSource({"'', .", "flowers, flowers", "train, train"})
    void holdsOutValidationImages(String folder, String config) throws IOException {
        Path parent = root.resolve(folder);
        write(parent + "/daisy/1.jpg", parent + "/daisy/2.jpg", parent + "/train/1.jpg");
        write(parent + "/rose/1.jpg", parent + "/rose/2.jpg");
        LabeledFolder found = LabeledFolder.find(root).orElseThrow();
        assertTrue(found.isHeldOut());
        assertEquals(fold(config, FoldDataset.Part.TRAIN), found.train());
        assertEquals(Optional.of(fold(config, FoldDataset.Part.VAL)), found.val());
    }

    @Test
    void rejectsTooFewImagesToHoldOut() throws IOException {
        write("a/1.jpg", "a/2.jpg", "b/1.jpg", "b/2.jpg");
        SaccadeException e = assertThrows(SaccadeException.class, () -> LabeledFolder.find(root));
        assertTrue(e.getMessage().startsWith(root + ": got 4 images, expected"), e.getMessage());
        write("b/3.jpg");
        assertTrue(LabeledFolder.find(root).orElseThrow().isHeldOut());
    }

    @ParameterizedTest
    @CsvSource({
        "cat/1.jpg, cat",
        "train/cat/black/1.jpg val/cat/1.jpg, train/cat",
        "cat/1.jpg dog/notes.txt, cat",
        "train/1.jpg val/1.jpg,",
        "images/1.jpg,",
        "cat/1.jpg dog/1.jpg,"
    })
    void findsTheOnlyClass(String files, String only) throws IOException {
        write(files.split(" "));
        assertEquals(
                Optional.ofNullable(only).map(root::resolve), LabeledFolder.onlyClassFolder(root));
    }

    @ParameterizedTest
    @CsvSource({"1900, 100, true", "1900, 190, false", "1900, 0, false"})
    void commentsOnRareClasses(int a, int b, boolean expected) {
        Map<String, Integer> perClass = Map.of("a", a, "b", b);
        DatasetContents contents =
                new DatasetContents(TargetKind.CLASSES, a + b, 64, 64, perClass, 0, 0);
        LabeledFolder folder = new LabeledFolder(root, images("a"), Optional.empty());
        Machine machine = new Machine(false, 4, 16L << 30, false);
        String config = ConfigGenerator.generate(folder, contents, machine);
        assertEquals(expected, config.contains("# b has only " + b + " images."), config);
        assertEquals(expected, config.contains("  # train: {type: class_balanced, "), config);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "train/images/1.jpg train/labels/1.txt val/images/2.jpg val/labels/2.txt",
                "images/train/1.jpg images/val/2.jpg",
                "JPEGImages/1.jpg Annotations/1.txt ImageSets/1.jpg",
                "train/1.jpg val/2.jpg test/3.jpg",
                "train2017/1.jpg val2017/2.jpg",
                "only/1.jpg",
                "a/notes.txt b/notes.txt"
            })
    void ignoresOtherFolders(String files) throws IOException {
        write(files.split(" "));
        assertEquals(Optional.empty(), ClassFolderLayout.find(root));
    }

    @Test
    void labelsInFilesHavePriority() throws IOException {
        write("train/cat/1.jpg", "train/dog/2.jpg");
        Files.writeString(
                root.resolve("train/cat/1.xml"),
                "<annotation><size><width>4</width><height>4</height></size><object>"
                        + "<name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>3</xmax>"
                        + "<ymax>3</ymax></bndbox></object></annotation>");
        assertEquals(Optional.empty(), ClassFolderLayout.find(root));
    }

    @ParameterizedTest
    @CsvSource({
        "28, false, 64, 32",
        "100, false, 96, 32",
        "3000, false, 160, 32",
        "3000, true, 224, 64"
    })
    void choosesInputSize(int edge, boolean gpu, int size, int batch) throws IOException {
        DatasetContents contents =
                new DatasetContents(
                        TargetKind.CLASSES, 2000, edge, edge, Map.of("a", 1900, "b", 100), 0, 0);
        Machine machine = new Machine(gpu, 4, 16L << 30, false);
        LabeledFolder folder = new LabeledFolder(root, images("a"), Optional.of(images("b")));
        Path file = root.resolve("new.yaml");
        Files.writeString(file, ConfigGenerator.generate(folder, contents, machine));

        RunConfig config = RunConfig.load(file);

        assertEquals(Optional.of(List.of(size, size)), config.data().size().imageSize());
        assertEquals(batch, config.data().batchSize());
        assertEquals(TargetKind.CLASSES, config.model().head().targets());
        assertEquals(Optional.of(images("a")), config.data().train());
    }
}
