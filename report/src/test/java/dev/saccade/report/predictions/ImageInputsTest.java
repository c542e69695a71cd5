package dev.saccade.report.predictions;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.datasets.image.PixelFormat;

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

    @Test
    void findsImagesInSubfoldersOnRequest() throws IOException {
        for (String name : List.of("b.jpg", "line 1/a.jpg", "line 1/night/a.jpg", "old/c.jpg")) {
            Files.createDirectories(folder.resolve(name).getParent());
            Files.createFile(folder.resolve(name));
        }
        Files.createFile(folder.resolve("old/predictions.json"));
        Files.createSymbolicLink(folder.resolve("line 1/loop"), folder);
        ImageInputs found = ImageInputs.findAll(folder);
        assertEquals(
                List.of("b.jpg", "line 1/a.jpg", "line 1/night/a.jpg"),
                found.images().stream().map(f -> folder.relativize(f).toString()).toList());
        assertEquals(1, found.faults().size());
    }

    @Test
    void skipsExtraFilesOfOtherImages() throws IOException {
        Path images = Files.createDirectory(folder.resolve("bands"));
        for (String name : List.of("a.tif", "a_nir.tif", "b.tif", "c_nir.tif")) {
            Files.createFile(images.resolve(name));
        }
        PixelFormat format =
                new PixelFormat(4, List.of(0.0, 4095.0), List.of("{name}_nir.tif"), List.of());
        ImageInputs found = ImageInputs.find(List.of(images)).withoutExtraFiles(format);
        assertEquals(
                List.of("a.tif", "b.tif", "c_nir.tif"),
                found.images().stream().map(image -> image.getFileName().toString()).toList());
        assertEquals(
                List.of("read 1 extra file (data.extra_files) with the other images"),
                found.notes());
        ImageInputs rgb = ImageInputs.find(List.of(images)).withoutExtraFiles(PixelFormat.RGB);
        assertEquals(4, rgb.images().size());
    }
}
