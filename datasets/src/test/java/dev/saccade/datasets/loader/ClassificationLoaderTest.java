package dev.saccade.datasets.loader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.structures.ClassTarget;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.datasets.BatchAugment;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.classification.ImageFolderDataset;
import dev.saccade.datasets.classification.MixupCutmix;
import dev.saccade.datasets.classification.PixelErasing;
import dev.saccade.datasets.classification.RepeatedAugmentation;
import dev.saccade.datasets.image.ImageFiles;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.datasets.pillow.AutoAugment;
import dev.saccade.datasets.pillow.ColorJitter;
import dev.saccade.datasets.pillow.Interpolation;
import dev.saccade.datasets.pillow.RandAugment;
import dev.saccade.datasets.pillow.RandomResizedCrop;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.RandomFlip;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.Core;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

class ClassificationLoaderTest {

    private static final List<Transform> TRANSFORMS =
            List.of(
                    new RandomResizedCrop(
                            List.of(24, 24),
                            List.of(0.3, 1.0),
                            List.of(0.75, 1.3),
                            Interpolation.RANDOM,
                            false),
                    Configs.of(RandomFlip.class),
                    Configs.of(RandAugment.class),
                    Configs.of(AutoAugment.class),
                    Configs.of(ColorJitter.class),
                    Configs.of(Normalize.class));

    private static final List<BatchAugment> AUGMENTS =
            List.of(
                    Configs.of(MixupCutmix.class),
                    Configs.of(PixelErasing.class, Map.of("prob", 0.5)));

    @TempDir Path root;
    private Dataset images;

    @BeforeEach
    void writeImages() throws IOException {
        for (int i = 0; i < 14; i++) {
            Path file = root.resolve("train/class" + i % 3 + "/" + i + ".jpg");
            Files.createDirectories(file.getParent());
            Files.write(file, ImageFiles.jpeg(30 + i, 50 - i));
        }
        images = new ImageFolderDataset.Config("train", List.of()).open(root);
    }

    private static DataLoader<Batch> loader(Dataset dataset, int threads, long seed) {
        return DataLoader.distributed(
                dataset,
                PixelFormat.RGB,
                epoch -> TRANSFORMS,
                AUGMENTS,
                TargetKind.CLASSES,
                4,
                threads,
                seed,
                ProcessGroup.alone(),
                true);
    }

    private static List<String> digest(Dataset dataset, int threads, long seed, int epoch) {
        List<String> batches = new ArrayList<>();
        try (DataLoader<Batch> loader = loader(dataset, threads, seed);
                DataLoader<Batch>.Epoch all = loader.epoch(epoch)) {
            all.forEachRemaining(
                    batch -> {
                        batches.add(
                                batch.images()
                                        + " "
                                        + batch.classTargets()
                                        + " "
                                        + batch.pixels().hashCode());
                        batch.close();
                    });
        }
        return batches;
    }

    @Test
    void mixedBatchesDoNotDependOnThreads() {
        for (Dataset dataset : List.of(images, new RepeatedAugmentation(images, 3))) {
            List<String> expected = digest(dataset, 1, 7, 0);
            assertEquals(3, expected.size());
            assertEquals(expected, digest(dataset, 3, 7, 0));
            assertNotEquals(expected, digest(dataset, 1, 7, 1));
            assertNotEquals(expected, digest(dataset, 1, 8, 0));
        }
    }

    @Test
    void reducesLargeJpegsOnly() throws IOException {
        Files.write(root.resolve("train/class0/large.jpg"), ImageFiles.jpeg(400, 300));
        Files.write(
                root.resolve("train/class1/large.png"),
                ImageFiles.png(400, 300, BufferedImage.TYPE_3BYTE_BGR));
        Files.write(
                root.resolve("train/class2/turned.jpg"),
                ImageFiles.withOrientation(ImageFiles.jpeg(400, 300), 6));
        Dataset all = new ImageFolderDataset.Config("train", List.of()).open(root);
        SampleReader exact = reader(all, false);
        SampleReader reduced = reader(all, true);
        for (int i = 0; i < all.size(); i++) {
            String name = all.image(i).file().getFileName().toString();
            for (int epoch = 0; epoch < 3; epoch++) {
                try (Sample expected = exact.trainingSample(i, 7, epoch);
                        Sample found = reduced.trainingSample(i, 7, epoch)) {
                    double difference = Core.norm(expected.image(), found.image(), Core.NORM_INF);
                    assertEquals(name.equals("large.jpg"), difference > 0, name);
                    assertTrue(difference < 80, name + " differs by " + difference);
                    assertEquals(expected.info().size(), found.info().size());
                }
            }
        }
    }

    private static SampleReader reader(Dataset dataset, boolean reducedDecoding) {
        RandomResizedCrop crop =
                new RandomResizedCrop(
                        List.of(24, 24),
                        List.of(0.3, 1.0),
                        List.of(0.75, 1.3),
                        Interpolation.BICUBIC,
                        reducedDecoding);
        return new SampleReader(dataset, List.of(crop), TargetKind.CLASSES);
    }

    @Test
    void versionsOfAnImageDiffer() {
        try (DataLoader<Batch> loader = loader(new RepeatedAugmentation(images, 4), 1, 3);
                DataLoader<Batch>.Epoch epoch = loader.epoch(0);
                Batch batch = epoch.next()) {
            assertEquals(1, batch.images().stream().map(ImageInfo::id).distinct().count());
            float[] pixels = new float[batch.pixels().remaining()];
            batch.pixels().get(pixels);
            int values = pixels.length / 4;
            assertEquals(
                    4,
                    IntStream.range(0, 4)
                            .map(i -> FloatBuffer.wrap(pixels, i * values, values).hashCode())
                            .distinct()
                            .count());
        }
    }

    @Test
    void targetsAreDistributionsOverClasses() {
        try (DataLoader<Batch> loader = loader(images, 2, 5);
                DataLoader<Batch>.Epoch epoch = loader.epoch(0);
                NDManager manager = NDManager.newBaseManager("PyTorch")) {
            while (epoch.hasNext()) {
                try (Batch batch = epoch.next()) {
                    float[] rows = batch.classTargets(3, manager).toFloatArray();
                    assertEquals(new Shape(4, 3), batch.classTargets(3, manager).getShape());
                    for (int i = 0; i < 4; i++) {
                        ClassTarget target = batch.classTargets().get(i);
                        float[] expected = new float[3];
                        expected[target.label()] += (float) target.weight();
                        expected[target.other()] += (float) (1 - target.weight());
                        float[] row = {rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]};
                        assertArrayEquals(expected, row, 1e-6f);
                        assertEquals(1, row[0] + row[1] + row[2], 1e-6);
                    }
                }
            }
        }
    }

    @Test
    void rejectsImagesWithoutClass() {
        ImageFolder objects = new ImageFolder(root).add(40, 33);
        SaccadeException problem =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                new SampleReader(objects, TRANSFORMS, TargetKind.CLASSES)
                                        .trainingSample(0, 7, 0));
        assertTrue(
                problem.getMessage().contains("100.jpg: the image has no class"),
                problem.getMessage());
        assertEquals(SaccadeException.Kind.USER, problem.kind());
    }
}
