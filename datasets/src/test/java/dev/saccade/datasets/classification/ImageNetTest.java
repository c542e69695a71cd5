package dev.saccade.datasets.classification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.image.ImageFiles;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

class ImageNetTest {

    private static final CheckOptions OPTIONS =
            new CheckOptions(false, TargetKind.CLASSES, 1, () -> {});

    @TempDir Path root;

    private final ImageNet.Config config = new ImageNet.Config("train");

    private void writeFolders() throws IOException {
        for (String folder : ImageNet.FOLDERS) {
            Files.createDirectories(root.resolve("train").resolve(folder));
        }
        Files.write(root.resolve("train/n02123045/tabby.jpg"), ImageFiles.jpeg(20, 10));
    }

    @Test
    void hasTheClassesOfPublishedCheckpoints() {
        assertEquals(1000, Set.copyOf(ImageNet.NAMES).size());
        assertEquals(ImageNet.FOLDERS.stream().sorted().distinct().toList(), ImageNet.FOLDERS);
        assertEquals("tench", ImageNet.NAMES.get(0));
        assertEquals("tabby", ImageNet.NAMES.get(281));
        assertEquals("toilet tissue", ImageNet.NAMES.get(999));
        assertEquals(ImageNet.NAMES, config.knownClasses());
    }

    @Test
    void namesTheClassesOfFolders() throws IOException {
        writeFolders();
        Dataset dataset = config.open(root);
        assertEquals(ImageNet.NAMES, dataset.classes());
        assertEquals(281, dataset.label(0).orElseThrow());
        DatasetReport report = config.check(root, OPTIONS);
        assertEquals(0, report.errors());
        assertTrue(
                report.messages(Finding.Severity.WARNING)
                        .contains("data set: class \"tench\" has no images; remove the class"));
    }

    @Test
    void rejectsOtherFolders() throws IOException {
        writeFolders();
        Files.delete(root.resolve("train/n01440764"));
        String message =
                root.resolve("train")
                        + ": lacks 1 of ImageNet's 1,000 class folders, such as n01440764; for"
                        + " other classes, set the type of the data set to image_folder";
        SaccadeException error = assertThrows(SaccadeException.class, () -> config.open(root));
        assertTrue(error.getMessage().contains(message), error.getMessage());
        assertEquals(
                List.of(message), config.check(root, OPTIONS).messages(Finding.Severity.ERROR));
        assertThrows(SaccadeException.class, () -> new ImageNet.Config("val").open(root));
    }
}
