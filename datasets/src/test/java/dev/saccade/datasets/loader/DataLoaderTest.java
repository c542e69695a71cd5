package dev.saccade.datasets.loader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.ImageFiles;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.datasets.transforms.PhotometricDistortion;
import dev.saccade.datasets.transforms.RandomCrop;
import dev.saccade.datasets.transforms.RandomFlip;
import dev.saccade.datasets.transforms.Resize;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

class DataLoaderTest {

    private static final List<Transform> TRAINING =
            List.of(
                    Configs.of(RandomFlip.class),
                    new Resize(
                            List.of(List.of(80, 50), List.of(90, 60)),
                            Resize.Mode.RANGE,
                            true,
                            List.of(),
                            1),
                    new RandomCrop(
                            RandomCrop.Mode.ABSOLUTE_RANGE, List.of(30.0, 50.0), 1, false, true),
                    Configs.of(PhotometricDistortion.class),
                    Configs.of(Normalize.class),
                    new Pad(List.of(), 16));

    private static final List<Transform> TEST =
            List.of(Configs.of(Normalize.class), new Pad(List.of(), 32));

    @TempDir Path folder;

    @ParameterizedTest
    @ValueSource(ints = {2, 5})
    void returnsTheSameBatchesWithAnyNumberOfThreads(int threads) {
        Dataset dataset = mixedSizes();
        assertEquals(digest(dataset, 1, 7, 0), digest(dataset, threads, 7, 0));
    }

    @Test
    void shufflesAndAugmentsByEpochAndSeed() {
        Dataset dataset = mixedSizes();
        List<String> first = digest(dataset, 2, 7, 0);
        assertNotEquals(first, digest(dataset, 2, 7, 1));
        assertNotEquals(first, digest(dataset, 2, 8, 0));
    }

    @Test
    void resumesInTheMiddleOfAnEpoch() {
        Dataset dataset = mixedSizes();
        try (DataLoader<Batch> loader =
                DataLoader.training(dataset, TRAINING, TargetKind.BOXES, 2, 2, 7)) {
            List<String> whole = digest(loader.epoch(3));
            assertEquals(whole.subList(2, whole.size()), digest(loader.epoch(3, 2)));
        }
    }

    @Test
    void keepsTheOrderWithoutTargetsAtTestTime() {
        Dataset dataset = mixedSizes();
        List<Long> ids = new ArrayList<>();
        try (DataLoader<InferenceInput> loader = DataLoader.testing(dataset, List.of(TEST), 3);
                DataLoader<InferenceInput>.Epoch epoch = loader.epoch(0)) {
            while (epoch.hasNext()) {
                try (InferenceInput photo = epoch.next()) {
                    Batch batch = photo.batches().get(0);
                    batch.images().forEach(image -> ids.add(image.id()));
                    batch.targets().forEach(targets -> assertEquals(0, targets.size()));
                }
            }
            assertEquals(7, loader.batchesPerEpoch());
            assertTrue(loader.waitedSeconds() > 0);
        }
        assertEquals(List.of(100L, 101L, 102L, 103L, 104L, 105L, 106L), ids);
    }

    @Test
    void padsEveryImageToTheLargestOfItsBatchWithZeros() {
        Dataset dataset = new ImageFolder(folder).add(40, 33).add(64, 20);
        List<ImageSource> files =
                List.of(
                        ImageSource.of(dataset.image(0).file()),
                        ImageSource.of(dataset.image(1).file()));
        try (InferenceInput input = new InferenceReader(List.of(TEST)).read(files)) {
            Batch batch = input.batches().get(0);
            assertEquals(new Size(64, 64), batch.size());
            assertEquals(new Size(33, 40), batch.images().get(0).size());
            assertEquals(new Size(32, 64), batch.images().get(1).padded());
            FloatBuffer pixels = batch.pixels();
            float red = (255 - 123.675f) / 58.395f;
            assertEquals(red, pixels.get(0), 0.05);
            assertEquals(0, pixels.get(40));
            assertEquals(0, pixels.get(64 * 33));
            int blueOfSecond = (3 + 2) * 64 * 64;
            assertEquals((255 - 103.53f) / 57.375f, pixels.get(blueOfSecond + 63), 0.05);
            assertEquals(0, pixels.get(blueOfSecond + 20 * 64));
        }
    }

    @Test
    void returnsMasksOfThePaddedSize() {
        Dataset dataset = mixedSizes();
        int objects = 0;
        try (DataLoader<Batch> loader =
                        DataLoader.training(dataset, TRAINING, TargetKind.MASKS, 2, 2, 7);
                DataLoader<Batch>.Epoch epoch = loader.epoch(0)) {
            while (epoch.hasNext()) {
                try (Batch batch = epoch.next()) {
                    for (int i = 0; i < batch.images().size(); i++) {
                        Size padded = batch.images().get(i).padded();
                        Instances targets = batch.targets().get(i);
                        assertEquals(targets.size(), targets.masks().size());
                        for (int k = 0; k < targets.size(); k++) {
                            objects++;
                            assertEquals(padded, targets.mask(k).size());
                            assertWithin(targets.boxes(), k, targets.mask(k).bounds());
                        }
                    }
                }
            }
        }
        assertTrue(objects > 3, objects + " objects");
        try (Sample unasked =
                new SampleReader(dataset, TEST, TargetKind.BOXES).trainingSample(0, 7, 0)) {
            assertFalse(unasked.targets().hasMasks());
        }
    }

    @Test
    void crowdsReachTheBatchAsIgnoredRegionsOfTheNetworkInput() {
        Dataset dataset = new ImageFolder(folder).add(100, 60).addCrowd(10, 20, 30, 40);
        List<Transform> transforms =
                List.of(
                        new Resize(
                                List.of(List.of(200, 120)), Resize.Mode.VALUE, true, List.of(), 1),
                        new RandomFlip(1, RandomFlip.Direction.HORIZONTAL));
        for (TargetKind kind : List.of(TargetKind.BOXES, TargetKind.MASKS)) {
            try (DataLoader<Batch> loader =
                            DataLoader.training(dataset, transforms, kind, 1, 1, 7);
                    DataLoader<Batch>.Epoch epoch = loader.epoch(0);
                    Batch batch = epoch.next()) {
                Instances targets = batch.targets().get(0);
                assertEquals(1, targets.size());
                assertEquals(Boxes.of(50, 30, 150, 90), targets.boxes());
                assertEquals(Boxes.of(120, 40, 180, 120), targets.ignored());
            }
        }
    }

    private static void assertWithin(Boxes boxes, int i, Rle.Bounds bounds) {
        String message = boxes + " " + bounds;
        assertTrue(bounds.width() > 0 && bounds.height() > 0, message);
        assertTrue(bounds.x() >= boxes.x1(i) - 2 && bounds.y() >= boxes.y1(i) - 2, message);
        assertTrue(bounds.x() + bounds.width() <= boxes.x2(i) + 2, message);
        assertTrue(bounds.y() + bounds.height() <= boxes.y2(i) + 2, message);
    }

    @Test
    void becomesAnArrayOfTheSameValues() {
        Dataset dataset = new ImageFolder(folder).add(40, 33).add(64, 20);
        try (NDManager manager = NDManager.newBaseManager();
                DataLoader<InferenceInput> loader = DataLoader.testing(dataset, List.of(TEST), 1);
                DataLoader<InferenceInput>.Epoch epoch = loader.epoch(0)) {
            for (int i = 0; i < 2; i++) {
                try (InferenceInput photo = epoch.next()) {
                    Batch batch = photo.batches().get(0);
                    ImageBatch images = photo.to(manager).get(0);
                    float[] expected = new float[batch.pixels().remaining()];
                    batch.pixels().get(expected);
                    assertEquals(3, images.pixels().getShape().get(1));
                    assertArrayEquals(expected, images.pixels().toFloatArray());
                }
            }
        }
    }

    @Test
    void transformsFilesOutsideOfADataSet() {
        ImageFolder dataset = new ImageFolder(folder).add(40, 33);
        InferenceReader reader = new InferenceReader(List.of(TEST));
        try (InferenceInput loose = reader.read(List.of(ImageSource.of(dataset.image(0).file())));
                InferenceInput labeled = reader.read(dataset, 0)) {
            Batch batch = loose.batches().get(0);
            ImageInfo image = batch.images().get(0);
            assertEquals(new Size(33, 40), image.original());
            assertTrue(image.file().endsWith("100.jpg"), image.file());
            assertEquals(labeled.batches().get(0).pixels(), batch.pixels());
        }
    }

    @Test
    void namesImageAndFileOfUnreadableSamples() {
        byte[] jpeg = ImageFiles.jpeg(40, 40);
        Dataset dataset =
                new ImageFolder(folder)
                        .add(40, 40)
                        .add(Arrays.copyOf(jpeg, jpeg.length / 2), new Size(40, 40));
        String message = failure(dataset);
        assertTrue(message.startsWith("image 101: "), message);
        assertTrue(message.contains("101.jpg: JPEG is truncated"), message);
    }

    @Test
    void rejectsAnotherSizeThanDeclared() {
        byte[] turned = ImageFiles.withOrientation(ImageFiles.jpeg(40, 50), 6);
        Dataset dataset = new ImageFolder(folder).add(turned, new Size(50, 40));
        String message = failure(dataset);
        assertTrue(message.contains("is 40x50 (height x width, upright)"), message);
        assertTrue(message.contains("declared as 50x40"), message);
    }

    @Test
    void stopsItsThreadsWhenClosedEarly() throws InterruptedException {
        DataLoader<Batch> loader =
                DataLoader.training(mixedSizes(), TRAINING, TargetKind.BOXES, 2, 3, 7);
        try (DataLoader<Batch>.Epoch epoch = loader.epoch(0)) {
            epoch.next().close();
            assertFalse(loaderThreads().isEmpty());
        }
        List<Thread> threads = loaderThreads();
        loader.close();
        for (Thread thread : threads) {
            // Its last task is done when the loader is closed; the thread itself ends thereafter.
            thread.join(10_000);
            assertFalse(thread.isAlive());
        }
    }

    private static List<Thread> loaderThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("data-loader-"))
                .toList();
    }

    private Dataset mixedSizes() {
        return new ImageFolder(folder)
                .add(100, 60)
                .add(60, 100)
                .add(90, 90)
                .add(120, 60)
                .add(100, 50)
                .add(50, 77)
                .add(64, 48);
    }

    private static String failure(Dataset dataset) {
        try (DataLoader<Batch> loader =
                        DataLoader.training(dataset, TEST, TargetKind.BOXES, 1, 2, 7);
                DataLoader<Batch>.Epoch epoch = loader.epoch(0)) {
            return assertThrows(SaccadeException.class, () -> epoch.forEachRemaining(Batch::close))
                    .getMessage();
        }
    }

    private static List<String> digest(Dataset dataset, int threads, long seed, int epoch) {
        try (DataLoader<Batch> loader =
                DataLoader.training(dataset, TRAINING, TargetKind.BOXES, 2, threads, seed)) {
            return digest(loader.epoch(epoch));
        }
    }

    private static List<String> digest(DataLoader<Batch>.Epoch epoch) {
        List<String> batches = new ArrayList<>();
        try (epoch) {
            epoch.forEachRemaining(
                    batch -> {
                        batches.add(
                                batch.images()
                                        + " "
                                        + batch.targets()
                                        + " "
                                        + batch.pixels().hashCode());
                        batch.close();
                    });
        }
        return batches;
    }
}
