package dev.saccade.datasets.classification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.ImageLabelStatistics;
import dev.saccade.datasets.image.ImageFiles;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

class ImageFolderDatasetTest {

    private static final CheckOptions OPTIONS =
            new CheckOptions(true, TargetKind.CLASSES, 1, () -> {});

    @TempDir Path root;

    private void image(String name) throws IOException {
        write(name, ImageFiles.jpeg(20, 10));
    }

    private void write(String name, byte[] bytes) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        Files.write(file, bytes);
    }

    private ImageFolderDataset open(String... classes) {
        return config(classes).open(root);
    }

    private static ImageFolderDataset.Config config(String... classes) {
        return new ImageFolderDataset.Config("train", List.of(classes));
    }

    private List<String> files(ImageFolderDataset dataset) {
        return dataset.images().stream()
                .map(image -> root.resolve("train").relativize(image.file()).toString())
                .toList();
    }

    private static ImmutableIntArray labels(ImageFolderDataset dataset) {
        return ImmutableIntArray.copyOf(
                IntStream.range(0, dataset.size()).map(i -> dataset.label(i).orElseThrow()));
    }

    @Test
    void sortsImagesByClassAndPath() throws IOException {
        image("train/dog/b.jpg");
        image("train/dog/a.jpg");
        image("train/cat/2.jpg");
        image("train/cat/10.jpg");
        image("train/cat/deep/er/1.JPG");
        ImageFolderDataset dataset = open();
        assertEquals(List.of("cat", "dog"), dataset.classes());
        assertEquals(
                List.of("cat/10.jpg", "cat/2.jpg", "cat/deep/er/1.JPG", "dog/a.jpg", "dog/b.jpg"),
                files(dataset));
        assertEquals(ImmutableIntArray.of(0, 0, 0, 1, 1), labels(dataset));
        assertEquals(
                List.of(1L, 2L, 3L, 4L, 5L), dataset.images().stream().map(ImageFile::id).toList());
        assertEquals(new Size(10, 20), dataset.image(3).size());
    }

    @Test
    void labelsFollowTheOrderOfTheListedClasses() throws IOException {
        image("train/ant/1.jpg");
        image("train/bee/1.jpg");
        image("train/cow/1.jpg");
        ImageFolderDataset dataset = open("cow", "ant");
        assertEquals(List.of("cow", "ant"), dataset.classes());
        assertEquals(List.of("cow/1.jpg", "ant/1.jpg"), files(dataset));
        assertEquals(ImmutableIntArray.of(0, 1), labels(dataset));
        DatasetReport report = config("cow", "ant").check(root, OPTIONS);
        assertEquals(0, report.errors());
        assertTrue(
                report.messages(Finding.Severity.WARNING)
                        .contains(
                                root.resolve("train")
                                        + ": skips 1 folder not listed in classes: bee"),
                report.findings().toString());
    }

    @Test
    void rejectsInvalidPaths() throws IOException {
        image("train/cat/1.jpg");
        ImageFolderDataset.Config config = new ImageFolderDataset.Config("tr\0ain", List.of());
        SaccadeException e = assertThrows(SaccadeException.class, () -> config.open(root));
        assertTrue(e.getMessage().contains("tr\\u0000ain: is not a path"), e.getMessage());
        SaccadeException unknown = assertThrows(SaccadeException.class, () -> open("c\0at"));
        assertTrue(unknown.getMessage().contains("no such folder"), unknown.getMessage());
    }

    @Test
    void skipsHiddenFilesAndReportsOtherFiles() throws IOException {
        image("train/cat/1.jpg");
        image("train/cat/.2.jpg");
        image("train/cat/.cache/3.jpg");
        image("train/.hidden/4.jpg");
        write("train/cat/notes.txt", "text".getBytes(StandardCharsets.UTF_8));
        image("train/5.jpg");
        assertEquals(List.of("cat/1.jpg"), files(open()));
        DatasetReport report = config().check(root, OPTIONS);
        assertEquals(0, report.errors());
        assertEquals(
                List.of(
                        root.resolve("train") + ": skips 1 hidden folder: .hidden",
                        root.resolve("train")
                                + ": skips 1 image outside of the class folders: 5.jpg",
                        root.resolve("train/cat") + ": skips 1 hidden folder: .cache",
                        root.resolve("train/cat") + ": skips 1 hidden image: .2.jpg",
                        root.resolve("train/cat")
                                + ": skips 1 file without the suffix of a supported image:"
                                + " notes.txt"),
                report.messages(Finding.Severity.WARNING));
        assertEquals(new ImageLabelStatistics(Map.of("cat", 1)), report.statistics());
    }

    @Test
    void rejectsMissingFolders() throws IOException {
        image("train/cat/1.jpg");
        String classes =
                assertThrows(SaccadeException.class, () -> open("cat", "dog", "cow")).getMessage();
        assertTrue(
                classes.contains("train/dog: no such folder; the config lists the class \"dog\""),
                classes);
        assertTrue(classes.contains("train/cow: no such folder"), classes);
        String folder =
                assertThrows(
                                SaccadeException.class,
                                () -> new ImageFolderDataset.Config("val", List.of()).open(root))
                        .getMessage();
        assertTrue(folder.contains("val: no such folder; expected a folder per class"), folder);
        assertThrows(
                IllegalArgumentException.class,
                () -> new ImageFolderDataset.Config("train", List.of("cat", "cat")));
    }

    @Test
    void rejectsFoldersWithoutImages() throws IOException {
        Files.createDirectories(root.resolve("train"));
        String none = assertThrows(SaccadeException.class, this::open).getMessage();
        assertTrue(none.contains("has no folders; expected a folder of images per class"), none);
        Files.createDirectories(root.resolve("train/cat"));
        String empty = assertThrows(SaccadeException.class, this::open).getMessage();
        assertTrue(empty.contains("has no images in the folders cat"), empty);
    }

    @Test
    void reportsDamagedImagesAndEmptyClasses() throws IOException {
        image("train/cat/1.jpg");
        write("train/cat/2.jpg", new byte[] {1, 2, 3});
        Files.createDirectories(root.resolve("train/dog"));
        DatasetReport report = config().check(root, OPTIONS);
        assertEquals(1, report.errors(), report.findings().toString());
        String error = report.messages(Finding.Severity.ERROR).get(0);
        assertTrue(error.contains("2.jpg") && error.contains("is not an image"), error);
        assertTrue(
                report.messages(Finding.Severity.WARNING)
                        .contains("data set: class \"dog\" has no images; remove the class"));
    }

    @Test
    void followsLinksAndReportsBrokenLinksAndLoops() throws IOException {
        image("elsewhere/1.jpg");
        image("train/cat/2.jpg");
        Files.createSymbolicLink(root.resolve("train/dog"), root.resolve("elsewhere"));
        Files.createSymbolicLink(root.resolve("train/cat/loop"), root.resolve("train"));
        Files.createSymbolicLink(root.resolve("train/cat/3.jpg"), root.resolve("missing.jpg"));
        Files.createSymbolicLink(root.resolve("train/cow"), root.resolve("missing"));
        ImageFolderDataset dataset = open();
        assertEquals(List.of("cat", "dog"), dataset.classes());
        List<String> warnings = config().check(root, OPTIONS).messages(Finding.Severity.WARNING);
        String broken = " that cannot be opened (broken link, pipe or device): ";
        assertTrue(
                warnings.contains(root.resolve("train") + ": skips 1 file" + broken + "cow"),
                warnings.toString());
        assertTrue(
                warnings.contains(root.resolve("train/cat") + ": skips 1 file" + broken + "3.jpg"),
                warnings.toString());
        assertTrue(
                warnings.toString().contains("train/cat: skips 1 link to a parent folder: loop"),
                warnings.toString());
    }
}
