package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.models.ClassMap;

import org.opencv.core.Mat;
import org.opencv.imgcodecs.Imgcodecs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;

/** Writes image files with their folders. */
final class ImageFiles {

    private ImageFiles() {}

    static void write(Mat image, Path file) {
        makeFolder(file);
        assertTrue(Imgcodecs.imwrite(file.toString(), image), file::toString);
    }

    static void writeLabels(LabelMap labels, int classes, Path file) {
        makeFolder(file);
        ClassMap map =
                new ClassMap(
                        labels, IntStream.range(0, classes).mapToObj(Integer::toString).toList());
        try {
            Files.write(file, map.toPng());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void makeFolder(Path file) {
        try {
            Files.createDirectories(file.getParent());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
