package dev.saccade.demo;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.coco.CocoDataset;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

class SceneDatasetTest {

    private static final Size SIZE = new Size(64, 80);

    @TempDir private Path folder;

    @Test
    void sameArgumentsWriteSameFiles() throws IOException {
        Path first = folder.resolve("first");
        Path second = folder.resolve("second");
        SceneDataset.write(first, new SceneRenderer(3, SIZE), 6, 3, done -> {});
        SceneDataset.write(second, new SceneRenderer(3, SIZE), 6, 3, done -> {});

        List<Path> files = files(first);
        assertEquals(11, files.size(), "9 pictures and 2 annotation files");
        assertEquals(files, files(second));
        for (Path file : files) {
            assertArrayEquals(
                    Files.readAllBytes(first.resolve(file)),
                    Files.readAllBytes(second.resolve(file)),
                    file.toString());
        }
    }

    @Test
    void readsBackAsCocoWithMasks() {
        SceneDataset.write(folder, new SceneRenderer(3, SIZE), 30, 10, done -> {});
        Path images = folder.resolve("images");
        CocoDataset train = CocoDataset.open(folder.resolve(SceneDataset.TRAIN), images, List.of());
        CocoDataset val = CocoDataset.open(folder.resolve(SceneDataset.VAL), images, List.of());

        assertEquals(ObjectTemplate.CLASSES, train.classes());
        assertEquals(30, train.size());
        assertEquals(10, val.size());
        for (int i = 0; i < train.size(); i++) {
            assertTrue(Files.exists(train.image(i).file()), "picture of " + train.image(i));
            for (Annotation annotation : train.annotations(i)) {
                Rle mask = annotation.segmentation().mask(SIZE);
                assertEquals(annotation.area(), mask.area());
                assertEquals(mask.bounds().width(), annotation.box().width());
            }
        }
    }

    @Test
    void progressCountsEveryScene() {
        List<Integer> seen = new ArrayList<>();
        SceneDataset.write(folder, new SceneRenderer(0, SIZE), 3, 2, seen::add);
        assertEquals(IntStream.rangeClosed(1, 5).boxed().toList(), seen);
    }

    @Test
    void fileInsteadOfFolderIsAnIoError() throws IOException {
        Path file = Files.writeString(folder.resolve("taken"), "");
        SceneRenderer renderer = new SceneRenderer(0, SIZE);
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> SceneDataset.write(file, renderer, 1, 1, done -> {}));
        assertEquals(SaccadeException.Kind.IO, e.kind());
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).map(folder::relativize).sorted().toList();
        }
    }
}
