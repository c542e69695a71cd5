package dev.saccade.datasets.ade20k;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.ImageFiles;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.datasets.loader.ImageFolder;
import dev.saccade.datasets.loader.SampleReader;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.datasets.transforms.RandomFlip;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

class Ade20kDatasetTest {

    @TempDir Path folder;

    @Test
    void pairsImagesWithTheirLabelMapsByName() {
        new LabelFiles(folder)
                .add("b", 40, 30, (x, y) -> 1)
                .add("a/z", 30, 20, (x, y) -> 2)
                .write("images/training/notes.txt", new byte[1])
                .write("annotations/training/._b.png", new byte[1]);
        Dataset dataset = Configs.of(Ade20kDataset.Config.class).open(folder);
        assertEquals(2, dataset.size());
        assertEquals(
                new ImageFile(1, folder.resolve("images/training/a/z.jpg"), new Size(20, 30)),
                dataset.image(0));
        assertEquals(2, dataset.image(1).id());
        assertEquals(LabelMap.filled(new Size(20, 30), 1), dataset.labels(0));
        assertEquals(LabelMap.filled(new Size(30, 40), 0), dataset.labels(1));
        assertEquals(List.of(), dataset.annotations(0));
    }

    @Test
    void knowsClassesOfAde20k() {
        new LabelFiles(folder).add("a", 40, 30, (x, y) -> 1);
        List<String> classes = Configs.of(Ade20kDataset.Config.class).open(folder).classes();
        assertEquals(150, classes.size());
        assertEquals(150, new HashSet<>(classes).size());
        assertEquals("wall", classes.get(0));
        assertEquals("bed", classes.get(7));
        assertEquals("chest of drawers", classes.get(44));
        assertEquals("flag", classes.get(149));
    }

    @Test
    void mapsPixelValuesToLabels() {
        int[] numbers = {0, 1, 2, 3, 255};
        new LabelFiles(folder).add("a", 5, 1, (x, y) -> numbers[x]);
        List<String> three = List.of("sky", "road", "car");
        assertArrayEquals(
                new short[] {-1, 0, 1, 2, -1}, config(three, true, 255).labels(0).toArray());
        assertArrayEquals(
                new short[] {0, 1, 2, 3, -1},
                config(List.of("a", "b", "c", "d"), false, 255).labels(0).toArray());
        assertArrayEquals(
                new short[] {-1, 0, 1, 2, 254},
                config(names(300), true, 65_535).labels(0).toArray());
    }

    @Test
    void rejectsUnknownPixelValues() {
        new LabelFiles(folder).add("a", 40, 30, (x, y) -> y < 2 ? 3 : x == 7 ? 200 : 1);
        Dataset dataset = config(List.of("sky", "road"), true, 255);
        SaccadeException thrown = assertThrows(SaccadeException.class, () -> dataset.labels(0));
        assertEquals(
                folder.resolve("annotations/training/a.png")
                        + ": value 3 in 80 pixels, first in row 0, column 0; 200 in 28 pixels,"
                        + " first in row 2, column 7; expected 0 (no class), 1 to 2 (classes) or"
                        + " 255 (ignored)",
                thrown.getMessage());
    }

    @Test
    void rejectsLabelMapsOfAnotherSize() {
        byte[] turned = ImageFiles.withOrientation(ImageFiles.jpeg(40, 30), 6);
        new LabelFiles(folder)
                .photo("a", turned)
                .labels("a", LabelFiles.gray(40, 30, 8, (x, y) -> 1))
                .photo("b", turned)
                .labels("b", LabelFiles.gray(30, 40, 8, (x, y) -> 1));
        Dataset dataset = Configs.of(Ade20kDataset.Config.class).open(folder);
        String message = assertThrows(SaccadeException.class, () -> dataset.labels(0)).getMessage();
        assertTrue(message.contains("a.png: is 30x40 (height x width), but"), message);
        assertTrue(message.contains("a.jpg is 40x30 upright; it refers"), message);
        assertEquals(new Size(40, 30), dataset.labels(1).size());
    }

    @Test
    void reportsAllFilesWithoutCounterpart() {
        new LabelFiles(folder)
                .add("a", 40, 30, (x, y) -> 1)
                .photo("b", new byte[1])
                .labels("c", new byte[1]);
        String message =
                assertThrows(
                                SaccadeException.class,
                                () -> Configs.of(Ade20kDataset.Config.class).open(folder))
                        .getMessage();
        assertTrue(message.contains("2 problems"), message);
        assertTrue(message.contains("b.jpg: has no matching label map; expected "), message);
        assertTrue(message.contains("c.png: has no matching image; expected "), message);
    }

    @Test
    void readsClassNamesFromAFile() {
        new LabelFiles(folder)
                .add("a", 40, 30, (x, y) -> 1)
                .write("classes.txt", " sky\r\n\nStraße \n".getBytes(StandardCharsets.UTF_8))
                .write("twice.txt", "sky\nsky\n".getBytes(StandardCharsets.UTF_8))
                .write("none.txt", new byte[0])
                .write("binary.txt", new byte[] {(byte) 0xC3, (byte) 0x28});
        assertEquals(List.of("sky", "Straße"), withFile("classes.txt").open(folder).classes());
        for (String file : List.of("twice.txt", "none.txt", "binary.txt", "missing.txt")) {
            SaccadeException thrown =
                    assertThrows(SaccadeException.class, () -> withFile(file).open(folder));
            assertEquals(SaccadeException.Kind.USER, thrown.kind());
            assertTrue(thrown.getMessage().contains(file), thrown.getMessage());
        }
    }

    @Test
    void namesAMissingClassesFileOnce() {
        Dataset.Config config = withFile("names.txt");
        String said = assertThrows(SaccadeException.class, () -> config.open(folder)).getMessage();
        assertEquals(
                folder.resolve("names.txt")
                        + ": no such file; expected a file with one class name per line",
                said);
    }

    @Test
    void rejectsAnIgnoreIndexThatIsAClass() {
        new LabelFiles(folder).add("a", 40, 30, (x, y) -> 1);
        String message =
                assertThrows(SaccadeException.class, () -> config(names(255), true, 255))
                        .getMessage();
        assertTrue(message.contains("255 is a class index"), message);
        assertEquals(254, config(names(254), true, 255).classes().size());
    }

    @Test
    void ignoresPaddingInBatchesOfLabelMaps() {
        new LabelFiles(folder).add("a", 20, 10, (x, y) -> x % 4).add("b", 12, 14, (x, y) -> y % 4);
        Dataset dataset = config(List.of("sky", "road", "car"), true, 255);
        SampleReader reader =
                new SampleReader(
                        dataset,
                        List.of(Configs.of(Normalize.class), new Pad(List.of(), 8)),
                        TargetKind.LABEL_MAPS);
        try (NDManager manager = NDManager.newBaseManager();
                Sample a = reader.trainingSample(0, 1, 0);
                Sample b = reader.trainingSample(1, 1, 0);
                Batch batch = Batch.collate(List.of(a, b))) {
            NDArray labels = batch.labels(manager);
            assertArrayEquals(new long[] {2, 16, 24}, labels.getShape().getShape());
            long[] numbers = labels.toLongArray();
            for (int i = 0; i < 2; i++) {
                LabelMap expected = dataset.labels(i).pad(new Size(16, 24));
                for (int y = 0; y < 16; y++) {
                    for (int x = 0; x < 24; x++) {
                        assertEquals(expected.get(y, x), numbers[(i * 16 + y) * 24 + x]);
                    }
                }
            }
            assertArrayEquals(
                    new long[] {2, 3, 16, 24}, batch.to(manager).pixels().getShape().getShape());
            assertNotEquals(0, batch.pixels().get(0));
        }
    }

    @Test
    void requiresLabelMapsForSegmentation() {
        Dataset objects = new ImageFolder(folder).add(40, 30);
        try (DataLoader<Batch> loader =
                        DataLoader.training(
                                objects,
                                List.of(Configs.of(Normalize.class)),
                                TargetKind.LABEL_MAPS,
                                1,
                                1,
                                1);
                DataLoader<Batch>.Epoch epoch = loader.epoch(0)) {
            String message = assertThrows(SaccadeException.class, epoch::next).getMessage();
            assertTrue(message.contains("has labeled objects"), message);
        }
    }

    @Test
    void readsTheSameLabelsWithAnyNumberOfThreads() {
        LabelFiles files = new LabelFiles(folder);
        for (int i = 0; i < 7; i++) {
            int number = i;
            files.add("photo" + i, 20 + i, 10, (x, y) -> (x + number) % 4);
        }
        Dataset dataset = config(List.of("sky", "road", "car"), true, 255);
        long[] expected = labelsOfAnEpoch(dataset, 1);
        assertArrayEquals(expected, labelsOfAnEpoch(dataset, 3));
        assertFalse(Arrays.stream(expected).allMatch(label -> label == -1));
    }

    private static long[] labelsOfAnEpoch(Dataset dataset, int threads) {
        List<Transform> transforms =
                List.of(Configs.of(RandomFlip.class), Configs.of(Normalize.class));
        long[] all = {};
        try (NDManager manager = NDManager.newBaseManager();
                DataLoader<Batch> loader =
                        DataLoader.training(
                                dataset, transforms, TargetKind.LABEL_MAPS, 2, threads, 5);
                DataLoader<Batch>.Epoch epoch = loader.epoch(0)) {
            assertEquals(3, loader.batchesPerEpoch());
            while (epoch.hasNext()) {
                try (Batch batch = epoch.next()) {
                    long[] labels = batch.labels(manager).toLongArray();
                    long[] more = Arrays.copyOf(all, all.length + labels.length);
                    System.arraycopy(labels, 0, more, all.length, labels.length);
                    all = more;
                }
            }
        }
        return all;
    }

    private static List<String> names(int count) {
        return java.util.stream.IntStream.range(0, count).mapToObj(i -> "class " + i).toList();
    }

    private Dataset config(List<String> classes, boolean reduceZeroLabel, int ignoreIndex) {
        return Configs.of(
                        Ade20kDataset.Config.class,
                        Map.of(
                                "classes", classes,
                                "reduce_zero_label", reduceZeroLabel,
                                "ignore_index", ignoreIndex))
                .open(folder);
    }

    private static Ade20kDataset.Config withFile(String file) {
        return Configs.of(Ade20kDataset.Config.class, "classes_file=" + file);
    }
}
