package dev.saccade.datasets.coco;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Splitter;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Finds the images of an annotation file where file names repeat across folders. */
class CocoFilesTest {

    private static final int IMAGES = 3;

    @TempDir Path folder;

    private Path images(String annotations, String folders) throws IOException {
        for (String name : Splitter.on(' ').split(folders)) {
            Files.createDirectories(folder.resolve(name));
            for (int i = 0; i < IMAGES; i++) {
                Files.createFile(folder.resolve(name).resolve(i + ".jpg"));
            }
        }
        Path file = folder.resolve(annotations);
        Files.createDirectories(file.getParent());
        String images =
                IntStream.range(0, IMAGES)
                        .mapToObj(
                                i ->
                                        "{\"id\": "
                                                + i
                                                + ", \"file_name\": \""
                                                + i
                                                + ".jpg\", \"width\": 9, \"height\": 9}")
                        .collect(Collectors.joining(", "));
        Files.writeString(
                file, "{\"images\": [" + images + "], \"annotations\": [], \"categories\": []}");
        List<Path> all = new ArrayList<>();
        try (Stream<Path> walked = Files.walk(folder)) {
            walked.filter(Files::isDirectory).sorted().forEach(all::add);
        }
        return folder.relativize(CocoFiles.images(file, all));
    }

    @ParameterizedTest
    @CsvSource({
        "cam2/annotations.json, cam1/images cam2/images, cam2/images",
        "cam1/annotations.json, cam1/images cam2/images, cam1/images",
        "annotations/instances_Validation.json, images/Train images/Validation, images/Validation",
        "annotations/instances_Train.json, images/Train images/Validation, images/Train",
        "annotations/val.json, images/train images/valid, images/valid",
        "labels/cam2.json, cam1 cam2 cam3, cam2",
        "labels/2024-05-02.json, 2024-05-01 2024-05-02, 2024-05-02",
        "annotations/cam2/train.json, images/cam1 images/cam2, images/cam2",
        "cam2/train.json, cam1/train cam2/images, cam2/images",
        "train.json, images images/thumbnails, images",
        "val/labels.json, train val, val",
        "annotations/instances_train2017.json, images/train2017 images/train2017_backup,"
                + " images/train2017",
        "annotations/train.json, images/train images/train_old images/val, images/train",
        "annotations/instances_train_2024-02-01.json, images/2024-01-02 images/2024-02-01,"
                + " images/2024-02-01",
    })
    void theFolderNextToTheFileOrNamedLikeItIsTaken(
            String annotations, String folders, String expected) throws IOException {
        assertEquals(Path.of(expected), images(annotations, folders));
    }

    @Test
    void severalMatchesAreRejected() {
        SaccadeException rejected =
                assertThrows(SaccadeException.class, () -> images("a.json", "cam1 cam2"));
        assertEquals(SaccadeException.Kind.USER, rejected.kind());
        assertTrue(rejected.getMessage().contains("cam1, cam2"), rejected.getMessage());
    }
}
