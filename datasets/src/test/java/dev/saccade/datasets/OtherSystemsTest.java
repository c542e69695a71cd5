package dev.saccade.datasets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ade20k.Ade20kDataset;
import dev.saccade.datasets.ade20k.LabelFiles;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.image.ImageFiles;
import dev.saccade.datasets.image.ImageReader;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Data sets on the file systems of Windows and macOS, which are in memory here. */
class OtherSystemsTest {

    private static final String COCO =
            """
            {"images": [
               {"id": 1, "file_name": "b.jpg", "width": 40, "height": 30},
               {"id": 2, "file_name": "%s", "width": 30, "height": 20}],
             "categories": [{"id": 1, "name": "cat"}], "annotations": []}
            """;

    static Stream<Arguments> systems() {
        return Stream.of(
                Arguments.of("Windows", Configuration.windows(), "C:\\data"),
                Arguments.of("macOS", Configuration.osX(), "/Users/me/data"));
    }

    private static Path folder(FileSystem system, String name) throws IOException {
        return Files.createDirectories(system.getPath(name));
    }

    private static CocoDataset coco(Path folder, String second) throws IOException {
        Path file =
                Files.writeString(
                        folder.resolve("all.json"), String.format(Locale.ROOT, COCO, second));
        return CocoDataset.open(file, folder, List.of());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("systems")
    void resolvesPathsOnOtherSystems(String name, Configuration system, String root)
            throws IOException {
        try (FileSystem files = Jimfs.newFileSystem(system)) {
            Path folder = folder(files, root);
            new LabelFiles(folder).write("sub/a.jpg", ImageFiles.jpeg(30, 20));
            CocoDataset dataset = coco(folder, "sub/a.jpg");
            String separator = files.getSeparator();
            Path photo = dataset.image(1).file();
            assertEquals(root + separator + "sub" + separator + "a.jpg", photo.toString());
            assertEquals(20, ImageReader.read(photo).rows());
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("systems")
    void pairsLabelMapsWithImagesOfTheSameFolder(String name, Configuration system, String root)
            throws IOException {
        try (FileSystem files = Jimfs.newFileSystem(system)) {
            Path folder = folder(files, root);
            new LabelFiles(folder).add("b", 40, 30, (x, y) -> 1).add("a/z", 30, 20, (x, y) -> 2);
            Dataset dataset = Configs.of(Ade20kDataset.Config.class).open(folder);
            assertEquals(new Size(20, 30), dataset.image(0).size());
            assertEquals(LabelMap.filled(new Size(20, 30), 1), dataset.labels(0));
            assertEquals(LabelMap.filled(new Size(30, 40), 0), dataset.labels(1));
        }
    }

    @Test
    void reportsNamesThatAreInvalidOnWindows() throws IOException {
        try (FileSystem files = Jimfs.newFileSystem(Configuration.windows())) {
            Path folder = folder(files, "C:\\data");
            for (String second : List.of("a:b.jpg", "D:/a.jpg", "/a.jpg", "..\\\\a.jpg")) {
                SaccadeException thrown =
                        assertThrows(SaccadeException.class, () -> coco(folder, second));
                assertEquals(SaccadeException.Kind.USER, thrown.kind());
                assertTrue(thrown.getMessage().contains("image 2"), thrown.getMessage());
            }
        }
    }
}
