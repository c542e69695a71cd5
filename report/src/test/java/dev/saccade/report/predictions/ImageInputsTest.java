package dev.saccade.report.predictions;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Which files count as images. */
class ImageInputsTest {

    @TempDir Path folder;

    @Test
    void findsImagesOfAllExtensions() throws IOException {
        for (String name : List.of("a.JFIF", "b.jpe", "c.jpg", "d.dib", "e.tif", "f.txt")) {
            Files.createFile(folder.resolve(name));
        }
        assertEquals(
                List.of("a.JFIF", "b.jpe", "c.jpg", "d.dib", "e.tif"),
                ImageInputs.find(List.of(folder)).images().stream()
                        .map(file -> file.getFileName().toString())
                        .toList());
    }
}
