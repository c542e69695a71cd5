package dev.saccade.datasets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ade20k.Ade20kDataset;
import dev.saccade.datasets.ade20k.LabelFiles;
import dev.saccade.datasets.check.ImageCheck;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.image.IndexPng;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Pipes under the names of files of a data set: nobody waits for what they may say. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PipesTest {

    private static final CheckOptions OPTIONS =
            new CheckOptions(true, TargetKind.BOXES, 2, () -> {});

    @TempDir Path folder;
    private Path pipe;

    @BeforeEach
    void makePipe() throws Exception {
        pipe = folder.resolve("1.png");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    }

    private void assertRefused(Executable reading) {
        SaccadeException thrown = assertThrows(SaccadeException.class, reading);
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        assertTrue(thrown.getMessage().startsWith(pipe + ": is a pipe"), thrown.getMessage());
    }

    private CocoDataset.Config objects(Path annotations) {
        return new CocoDataset.Config(annotations.toString(), folder.toString(), List.of());
    }

    private void assertFound(DatasetReport report) {
        assertTrue(
                report.findings().stream()
                        .anyMatch(finding -> finding.message().startsWith("is a pipe")),
                report.findings().toString());
    }

    @Test
    void rejectsNamedPipesAsImages() throws IOException {
        assertRefused(() -> ImageReader.read(pipe));
        assertRefused(() -> ImageFile.read(1, pipe));
        assertRefused(() -> ImageSource.of(pipe).read());
        Path annotations =
                Files.writeString(
                        folder.resolve("objects.json"),
                        """
                        {"images": [{"id": 1, "file_name": "1.png", "width": 8, "height": 8}],
                         "annotations": [], "categories": [{"id": 1, "name": "cat"}]}
                        """);
        assertFound(objects(annotations).check(folder, OPTIONS));
    }

    @Test
    void rejectsNamedPipesAsAnnotations() {
        assertRefused(() -> CocoDataset.open(pipe, folder, List.of()));
        assertFound(objects(pipe).check(folder, OPTIONS));
    }

    @Test
    void doesNotOpenNamedPipesToDescribeFolders() {
        DatasetReport report = objects(folder.resolve("missing.json")).check(folder, OPTIONS);
        assertEquals(1, report.errors());
    }

    @Test
    void rejectsNamedPipesAsLabelMaps() {
        assertRefused(() -> IndexPng.read(pipe));
    }

    @Test
    void rejectsNamedPipesAsClassNames() {
        new LabelFiles(folder).add("a", 8, 8, (x, y) -> 1);
        Ade20kDataset.Config usual = Configs.of(Ade20kDataset.Config.class);
        Ade20kDataset.Config config =
                Configs.of(
                        Ade20kDataset.Config.class,
                        "images=" + usual.images(),
                        "annotations=" + usual.annotations(),
                        "classes_file=1.png");
        assertRefused(() -> config.open(folder));
    }

    @Test
    void rejectsDevicesAsImages() {
        ImageFile endless = new ImageFile(1, Path.of("/dev/zero"), new Size(8, 8));
        List<Finding> findings = ImageCheck.findings(endless, OPTIONS);
        assertEquals(1, findings.size());
        assertTrue(findings.get(0).message().contains("expected a regular file"));
    }
}
