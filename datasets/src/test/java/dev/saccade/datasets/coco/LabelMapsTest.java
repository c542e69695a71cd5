package dev.saccade.datasets.coco;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.CheckedFiles;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.ImageFiles;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.datasets.loader.SampleReader;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.datasets.transforms.RandomCrop;
import dev.saccade.datasets.transforms.RandomFlip;
import dev.saccade.datasets.transforms.Resize;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;

/** Label maps beside the objects of COCO. */
class LabelMapsTest {

    private static final Size SIZE = new Size(60, 80);

    /** Of class 5, in the map as in the mask of the object. */
    private static final int THING = 5;

    @TempDir Path folder;

    @BeforeEach
    void write() throws IOException {
        Files.createDirectories(folder.resolve("images/b"));
        Files.createDirectories(folder.resolve("maps/b"));
        Files.write(folder.resolve("images/a.jpg"), ImageFiles.jpeg(80, 60));
        Files.write(folder.resolve("images/b/c.d.jpg"), ImageFiles.jpeg(80, 60));
        String object =
                "{'id': %d, 'image_id': %d, 'category_id': 1, 'bbox': [8, 8, 40, 32], 'area': 1280,"
                        + " 'iscrowd': 0,"
                        + " 'segmentation': [[8, 8, 48, 8, 48, 40, 8, 40]]}";
        String image = "{'id': %d, 'file_name': '%s', 'width': 80, 'height': 60}";
        String json =
                Text.format(
                        "{'images': [%s, %s], 'annotations': [%s, %s], 'categories': [{'id': 1, 'name': 'cat'}]}",
                        Text.format(image, 1, "a.jpg"),
                        Text.format(image, 2, "b/c.d.jpg"),
                        Text.format(object, 1, 1),
                        Text.format(object, 2, 2));
        Files.writeString(folder.resolve("a.json"), json.replace('\'', '"'));
        writeMap("a.png", SIZE, 255);
        writeMap("b/c.d.png", SIZE, 2);
    }

    /** Writes a map of the object, and another number around it. */
    private void writeMap(String name, Size size, int around) throws IOException {
        BufferedImage map =
                new BufferedImage(size.width(), size.height(), BufferedImage.TYPE_BYTE_GRAY);
        for (int y = 0; y < size.height(); y++) {
            for (int x = 0; x < size.width(); x++) {
                boolean inside = x >= 8 && x < 48 && y >= 8 && y < 40;
                map.getRaster().setSample(x, y, 0, inside ? THING : around);
            }
        }
        Files.write(folder.resolve("maps").resolve(name), ImageFiles.encode(map, "png"));
    }

    private CocoDataset.Config config(String... settings) {
        CocoDataset.Config config =
                Configs.of(
                        CocoDataset.Config.class,
                        "annotations=a.json",
                        "images=images",
                        "label_maps=maps");
        return Configs.with(config, settings);
    }

    private List<String> check(CocoDataset.Config config, int semanticClasses) {
        CheckOptions options =
                new CheckOptions(
                        CheckOptions.Depth.HEADERS,
                        TargetKind.MASKS_AND_LABEL_MAPS,
                        semanticClasses,
                        List.of(),
                        CheckedFiles.NONE,
                        2,
                        () -> {});
        return config.check(folder, options).findings().stream().map(Finding::toString).toList();
    }

    @Test
    void areFoundByTheNamesOfTheImages() {
        CocoDataset dataset = config().open(folder);
        assertEquals(183, dataset.semanticClasses());
        assertEquals(LabelMap.IGNORE, dataset.labels(0).get(0, 0));
        assertEquals(2, dataset.labels(1).get(0, 0));
        assertEquals(THING, dataset.labels(1).get(8, 8));
        assertEquals(1, dataset.annotations(0).size());
        assertEquals(List.of(), check(config(), 183));
    }

    @Test
    void areNotSearchedUnlessConfigured() {
        CocoDataset dataset = config("label_maps=null").open(folder);
        assertEquals(0, dataset.semanticClasses());
        assertThrows(SaccadeException.class, () -> dataset.labels(0));
        assertEquals(
                List.of(
                        folder.resolve("a.json")
                                + ": has no label maps, but the model has a"
                                + " semantic_head; set label_maps to their folder, or"
                                + " semantic_head: null"),
                check(config("label_maps=null"), 183));
    }

    @Test
    void areIgnoredIfOnlyObjectsAreTrained() throws IOException {
        Files.delete(folder.resolve("maps/a.png"));
        for (TargetKind kind : List.of(TargetKind.BOXES, TargetKind.MASKS)) {
            CheckOptions options = new CheckOptions(false, kind, 1, () -> {});
            assertEquals(List.of(), config().check(folder, options).findings());
        }
        SampleReader reader = new SampleReader(config().open(folder), List.of(), TargetKind.MASKS);
        try (Sample sample = reader.trainingSample(0, 0, 0)) {
            assertTrue(sample.labels().isEmpty());
            assertTrue(sample.targets().hasMasks());
        }
    }

    @Test
    void reportsAMissingFolderOnce() {
        List<String> told = check(config("label_maps=stuff"), 183);
        assertEquals(1, told.size());
        assertTrue(
                told.get(0)
                        .startsWith(
                                folder.resolve("stuff")
                                        + ": no such folder; correct data.train.label_maps in the"
                                        + " config"),
                told.get(0));
    }

    @Test
    void namesInvalidLabelMaps() throws IOException {
        Files.delete(folder.resolve("maps/a.png"));
        writeMap("b/c.d.png", new Size(50, 80), 190);
        List<String> told = check(config(), 183);
        assertEquals(3, told.size(), told::toString);
        Path first = folder.resolve("images/a.jpg");
        assertEquals(
                first + ": has no label map; expected " + folder.resolve("maps/a.png"),
                told.get(0));
        String second = folder.resolve("maps/b/c.d.png").toString();
        assertTrue(
                told.get(1)
                        .startsWith(
                                second
                                        + ": is 50x80 (height x width), but its image "
                                        + folder.resolve("images/b/c.d.jpg")
                                        + " is 60x80"),
                told.get(1));
        assertTrue(told.get(2).startsWith(second + ": value 190 in "), told.get(2));
        assertTrue(
                told.get(2)
                        .endsWith(
                                "expected 0 to 182 (classes) or 255 (ignored); label_map_classes is"
                                        + " the number of classes"),
                told.get(2));
        Dataset dataset = config().open(folder);
        assertTrue(message(() -> dataset.labels(0)).contains("a.png"));
        assertTrue(message(() -> dataset.labels(1)).startsWith(second));
    }

    private static String message(Runnable body) {
        return assertThrows(SaccadeException.class, body::run).getMessage();
    }

    @Test
    void rejectsMoreClassesThanTheModelHas() {
        assertEquals(
                List.of(
                        folder.resolve("maps")
                                + ": data.train.label_map_classes is 183, but"
                                + " model.head.semantic_head.num_classes is 182; increase"
                                + " num_classes"),
                check(config(), 182));
        assertEquals(List.of(), check(config("label_map_classes=6"), 182));
    }

    @Test
    void areTransformedLikeMasks() {
        List<Transform> transforms =
                List.of(
                        Configs.of(Resize.class, "scales=[[160, 120]]"),
                        Configs.of(RandomFlip.class, "probability=1"),
                        Configs.of(RandomCrop.class, "mode=absolute", "size=[100, 130]"),
                        Configs.of(Normalize.class),
                        new Pad(List.of(), 32));
        SampleReader reader =
                new SampleReader(
                        config().open(folder), transforms, TargetKind.MASKS_AND_LABEL_MAPS);
        for (int index = 0; index < 2; index++) {
            try (Sample sample = reader.trainingSample(index, 3, index)) {
                Rle mask = sample.targets().mask(0);
                LabelMap labels = sample.labels().orElseThrow();
                assertEquals(new Size(128, 160), labels.size());
                assertEquals(labels.masks().get(THING), mask);
                assertEquals(LabelMap.IGNORE, labels.get(127, 0));
            }
        }
    }

    @Test
    void areBatchedWithTheObjects() {
        List<Transform> transforms = List.of(Configs.of(Normalize.class), new Pad(List.of(), 32));
        try (NDManager manager = NDManager.newBaseManager();
                DataLoader<Batch> loader =
                        DataLoader.training(
                                config().open(folder),
                                transforms,
                                TargetKind.MASKS_AND_LABEL_MAPS,
                                2,
                                1,
                                1);
                DataLoader<Batch>.Epoch epoch = loader.epoch(0);
                Batch batch = epoch.next()) {
            assertTrue(batch.targets().stream().allMatch(objects -> objects.hasMasks()));
            long[] labels = batch.labels(manager).toLongArray();
            assertArrayEquals(new long[] {2, 64, 96}, batch.labels(manager).getShape().getShape());
            assertEquals(2 * 40 * 32, LongStream.of(labels).filter(x -> x == THING).count());
            assertFalse(LongStream.of(labels).anyMatch(x -> x == 255));
            assertTrue(LongStream.of(labels).anyMatch(x -> x == 2));
        }
    }
}
