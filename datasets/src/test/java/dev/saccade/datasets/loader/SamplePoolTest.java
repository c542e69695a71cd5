package dev.saccade.datasets.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.ClassBalancedDataset;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.transforms.CopyPaste;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.RandomChoice;
import dev.saccade.datasets.transforms.RandomCrop;
import dev.saccade.datasets.transforms.RandomFlip;
import dev.saccade.datasets.transforms.Resize;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** Transforms that need other images, and data sets that repeat some. */
class SamplePoolTest {

    private static final CopyPaste ALL = Configs.of(CopyPaste.class, "selected=false");

    private static final List<Transform> MIXING =
            List.of(
                    Configs.of(Resize.class, "scales=[[80, 80]]", "ratio_range=[0.5, 2.0]"),
                    Configs.of(
                            RandomCrop.class,
                            "mode=absolute",
                            "size=[60, 60]",
                            "recompute_bbox=true",
                            "allow_negative_crop=false"),
                    Configs.of(RandomFlip.class),
                    new RandomChoice(List.of(List.of(Configs.of(CopyPaste.class)), List.of(ALL))),
                    Configs.of(Normalize.class));

    static {
        OpenCv.load();
    }

    @TempDir Path folder;

    private ImageFolder photos() {
        return new ImageFolder(folder)
                .add(100, 60)
                .add(60, 100)
                .add(90, 90)
                .add(120, 60)
                .add(64, 48)
                .labeled(0);
    }

    private static List<String> read(DataLoader<Batch>.Epoch epoch) {
        List<String> read = new ArrayList<>();
        try (epoch) {
            epoch.forEachRemaining(
                    batch -> {
                        read.add(
                                batch.images()
                                        + " "
                                        + batch.targets()
                                        + " "
                                        + batch.pixels().hashCode());
                        batch.close();
                    });
        }
        return read;
    }

    private static DataLoader<Batch> loader(Dataset dataset, int threads, long seed) {
        return DataLoader.training(dataset, MIXING, TargetKind.MASKS, 2, threads, seed);
    }

    @Test
    void dependOnSeedEpochAndImage() {
        Dataset dataset = new ClassBalancedDataset(photos(), 1, true);
        List<String> whole;
        try (DataLoader<Batch> one = loader(dataset, 1, 7)) {
            whole = read(one.epoch(3));
            assertNotEquals(whole, read(one.epoch(4)));
        }
        try (DataLoader<Batch> several = loader(dataset, 4, 7);
                DataLoader<Batch> other = loader(dataset, 1, 8)) {
            assertEquals(whole, read(several.epoch(3)));
            assertEquals(whole.subList(1, whole.size()), read(several.epoch(3, 1)));
            assertNotEquals(whole, read(other.epoch(3)));
        }
    }

    @Test
    void masksAndBoxesFitTogether() {
        int objects = 0;
        SampleReader reader = new SampleReader(photos(), MIXING, TargetKind.MASKS);
        for (int epoch = 0; epoch < 30; epoch++) {
            try (Sample sample = reader.trainingSample(epoch % 5, 1, epoch)) {
                Instances targets = sample.targets();
                assertEquals(targets.size(), targets.masks().size());
                for (int i = 0; i < targets.size(); i++) {
                    assertTrue(targets.boxes().area(i) > 0);
                    assertTrue(targets.mask(i).area() > 0);
                    for (int k = 0; k < i; k++) {
                        assertEquals(0, targets.mask(i).iou(targets.mask(k), false));
                    }
                }
                objects += targets.size();
            }
        }
        assertTrue(objects > 35, objects + " objects");
    }

    @Test
    void pastesTheOnlyImageIntoItself() {
        SampleReader reader =
                new SampleReader(
                        new ImageFolder(folder).add(80, 60), List.of(ALL), TargetKind.MASKS);
        try (Sample sample = reader.trainingSample(0, 1, 0)) {
            assertEquals(1, sample.targets().size());
        }
    }

    @Test
    void pastesBoxesIfConfigured() {
        ImageFolder photos = photos();
        SampleReader refused = new SampleReader(photos, List.of(ALL), TargetKind.BOXES);
        String told =
                assertThrows(SaccadeException.class, () -> refused.trainingSample(0, 1, 0))
                        .getMessage();
        assertTrue(told.contains("paste_by_box: true"), told);
        Transform byBox = Configs.of(CopyPaste.class, "selected=false", "paste_by_box=true");
        SampleReader reader = new SampleReader(photos, List.of(byBox), TargetKind.BOXES);
        try (Sample sample = reader.trainingSample(0, 1, 0)) {
            assertFalse(sample.targets().hasMasks());
            assertTrue(sample.targets().size() > 0);
        }
    }

    @Test
    void replacesRejectedSamples() {
        ImageFolder photos = new ImageFolder(folder).add(80, 60).add(80, 60);
        List<Transform> crop =
                List.of(
                        Configs.of(
                                RandomCrop.class,
                                "mode=relative_range",
                                "size=[0.1, 0.1]",
                                "allow_negative_crop=false"));
        SampleReader reader = new SampleReader(photos, crop, TargetKind.BOXES);
        Set<Long> seen = new TreeSet<>();
        for (int epoch = 0; epoch < 40; epoch++) {
            try (Sample sample = reader.trainingSample(0, 1, epoch)) {
                assertTrue(sample.targets().size() > 0);
                seen.add(sample.info().id());
            }
        }
        assertEquals(Set.of(100L, 101L), seen);
    }

    @Test
    void failsIfEveryImageIsRejected() {
        ImageFolder photos = new ImageFolder(folder).addEmpty(80, 60);
        List<Transform> crop =
                List.of(
                        Configs.of(
                                RandomCrop.class,
                                "mode=relative",
                                "size=[1, 1]",
                                "allow_negative_crop=false"));
        SampleReader reader = new SampleReader(photos, crop, TargetKind.BOXES);
        String told =
                assertThrows(SaccadeException.class, () -> reader.trainingSample(0, 1, 0))
                        .getMessage();
        assertTrue(told.contains("no other image to sample"), told);
    }

    @Test
    void rejectsTransformsThatNeedADataSetByName() {
        for (Transform step : List.of(ALL, new RandomChoice(List.of(List.of(ALL))))) {
            assertTrue(step.needsOtherSamples());
            String told =
                    assertThrows(
                                    SaccadeException.class,
                                    () ->
                                            Transform.applyAll(
                                                    List.of(step),
                                                    sample(new Size(8, 8), 1, Boxes.empty()),
                                                    new SplittableRandom(1)))
                            .getMessage();
            assertTrue(told.contains("needs other images"), told);
        }
    }

    @Test
    void cutsOffPixelsBeyondTheEdges() {
        Sample small = sample(new Size(10, 30), 1, Boxes.of(0, 0, 4, 4));
        try (Sample large = sample(new Size(20, 20), 9, Boxes.of(15, 5, 20, 20, 2, 12, 9, 18));
                Sample mixed = ALL.paste(small, large, 0, 1)) {
            assertEquals(Boxes.of(0, 0, 4, 4, 15, 5, 20, 10), mixed.targets().boxes());
            assertEquals(25, mixed.targets().mask(1).area());
            assertEquals(9, mixed.image().get(9, 19)[0]);
            assertEquals(1, mixed.image().get(4, 19)[0]);
            assertEquals(1, mixed.image().get(9, 20)[0]);
        }
    }

    @Test
    void doesNotPasteObjectsWithoutPixels() {
        Size size = new Size(20, 20);
        Sample sample = sample(size, 1, Boxes.of(0, 0, 4, 4));
        Sample thin = sample(size, 9, Boxes.of(7, 7, 7.4f, 7.4f, 10, 10, 14, 14));
        try (Sample other =
                        thin.with(
                                thin.image(),
                                thin.info(),
                                thin.targets()
                                        .mapMasks(
                                                mask ->
                                                        mask.minus(
                                                                Rle.fromBox(size, 5, 5, 4, 4))));
                Sample mixed = ALL.paste(sample, other, 0, 1)) {
            assertEquals(Boxes.of(0, 0, 4, 4, 10, 10, 14, 14), mixed.targets().boxes());
        }
    }

    @Test
    void transformsMayDependOnTheEpoch() {
        Transform small = Configs.of(Resize.class, "scales=[[32, 32]]");
        SampleReader reader =
                new SampleReader(
                        photos(),
                        epoch -> epoch < 2 ? List.of() : List.of(small),
                        TargetKind.BOXES);
        for (int epoch = 0; epoch < 4; epoch++) {
            try (Sample sample = reader.trainingSample(0, 1, epoch)) {
                assertEquals(epoch < 2 ? 100 : 32, sample.info().size().width());
            }
        }
    }

    @Test
    void removesFullyCoveredObjects() {
        Sample sample = sample(new Size(20, 20), 1, Boxes.of(0, 0, 4, 4));
        try (Sample other = sample(new Size(20, 20), 9, Boxes.of(0, 0, 6, 6));
                Sample mixed = ALL.paste(sample, other, 0)) {
            assertEquals(Boxes.of(0, 0, 6, 6), mixed.targets().boxes());
        }
    }

    @Test
    void pastesLabelMaps() {
        Size size = new Size(4, 6);
        LabelMap ones = LabelMap.filled(size, 1);
        LabelMap mixed =
                ones.paste(Rle.fromBox(size, 1, 2, 2, 1), LabelMap.filled(new Size(3, 9), 7));
        assertEquals(7, mixed.get(2, 1));
        assertEquals(7, mixed.get(2, 2));
        assertEquals(1, mixed.get(2, 3));
        assertEquals(22, mixed.histogram(8)[1]);
    }

    @Test
    void recomputesBoxesFromCroppedMasks() {
        Size size = new Size(20, 20);
        Instances objects =
                Instances.groundTruth(Boxes.of(0, 0, 12, 12, 10, 0, 20, 20), 0, 1)
                        .withMasks(
                                List.of(
                                        Rle.fromBox(size, 2, 3, 4, 5),
                                        Rle.fromBox(size, 15, 0, 5, 20)));
        Mat image = new Mat(20, 20, CvType.CV_8UC3, Scalar.all(1));
        RandomCrop crop = Configs.of(RandomCrop.class, "recompute_bbox=true");
        try (Sample cut =
                crop.cut(Sample.of(image, ImageInfo.of(size), objects), 4, 0, new Size(14, 14))) {
            assertEquals(Boxes.of(2, 0, 6, 4), cut.targets().boxes());
            assertEquals(0, cut.targets().label(0));
        }
    }

    @Test
    void relativeSizesAreFractionsOfTheImage() {
        RandomCrop half = Configs.of(RandomCrop.class, "mode=relative", "size=[0.5, 0.25]");
        try (Sample cut =
                half.apply(sample(new Size(21, 30), 1, Boxes.empty()), new SplittableRandom(1))) {
            assertEquals(new Size(11, 8), cut.info().size());
        }
        for (String size : List.of("[0, 1]", "[1, 1.5]")) {
            assertThrows(
                    SaccadeException.class,
                    () -> Configs.of(RandomCrop.class, "mode=relative", "size=" + size));
        }
        assertThrows(SaccadeException.class, () -> Configs.of(RandomCrop.class, "size=[8.5, 9]"));
    }

    @Test
    void ranksShareTheRepeatedImages() {
        Dataset dataset = new ClassBalancedDataset(photos(), 1, true);
        List<String> both = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            Sampler all = Sampler.of(dataset, TargetKind.BOXES, 1, 5);
            new DistributedSampler(all, rank, 2, false)
                    .epoch(0)
                    .forEach(batch -> both.add(batch.toString()));
        }
        // Of a cat, sqrt(1 / 0.2), and of dogs, sqrt(1 / 0.8), rounded up.
        assertEquals(4 * 2 + 3, dataset.size());
        assertEquals(dataset.size(), both.size());
        assertEquals(dataset.size(), new TreeSet<>(both).size());
    }

    @Test
    void augmentsEachRepetitionIndependently() {
        Dataset dataset = new ClassBalancedDataset(photos(), 1, true);
        SampleReader reader = new SampleReader(dataset, MIXING, TargetKind.MASKS);
        Set<String> seen = new TreeSet<>();
        for (int i = 8; i < 11; i++) {
            assertEquals(104, dataset.image(i).id());
            try (Sample sample = reader.trainingSample(i, 7, 0)) {
                seen.add(sample.info() + " " + sample.targets());
            }
        }
        assertEquals(3, seen.size());
    }

    /** Label maps that tell which image they are of, beside the objects. */
    private record Labeled(Dataset objects) implements Dataset {

        @Override
        public List<String> classes() {
            return objects.classes();
        }

        @Override
        public List<ImageFile> images() {
            return objects.images();
        }

        @Override
        public List<Annotation> annotations(int index) {
            return objects.annotations(index);
        }

        @Override
        public int semanticClasses() {
            return 5;
        }

        @Override
        public LabelMap labels(int index) {
            return LabelMap.filled(image(index).size(), index);
        }
    }

    @Test
    void repetitionsHaveTheirLabelMaps() {
        Dataset dataset = new ClassBalancedDataset(new Labeled(photos()), 1, true);
        assertEquals(5, dataset.semanticClasses());
        assertEquals(
                List.of(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4),
                IntStream.range(0, 11).mapToObj(i -> dataset.labels(i).get(0, 0)).toList());
    }

    @Test
    void imagesWithoutObjectsMayCountAsAClass() {
        // Too thin to learn: it is trained on as background, unlike one that shows nothing at all.
        ImageFolder photos = photos().addEmpty(60, 40).add(60, 40).thin();
        assertEquals(4 * 2 + 3 + 1 + 1, new ClassBalancedDataset(photos, 1, true).size());
        assertEquals(4 * 2 + 3 + 1 + 3, new ClassBalancedDataset(photos, 1, false).size());
    }

    @Test
    void rejectsDataSetsWithoutObjects() {
        Dataset empty = new ImageFolder(folder).addEmpty(60, 40);
        String told =
                assertThrows(
                                SaccadeException.class,
                                () -> new ClassBalancedDataset(empty, 0.1, true))
                        .getMessage();
        assertEquals(
                "class_balanced: requires labeled objects, but none of 1 image has an object; remove"
                        + " class_balanced for data sets of label maps",
                told);
        Dataset thin = new ImageFolder(folder).add(60, 40).thin();
        told =
                assertThrows(
                                SaccadeException.class,
                                () -> new ClassBalancedDataset(thin, 0.1, true))
                        .getMessage();
        assertTrue(told.contains("but none of 1 image contains a "), told);
    }

    private static Sample sample(Size size, int gray, Boxes boxes) {
        Mat image = new Mat(size.height(), size.width(), CvType.CV_8UC3, Scalar.all(gray));
        List<Rle> masks = new ArrayList<>();
        for (int i = 0; i < boxes.size(); i++) {
            masks.add(Rle.fromBox(size, boxes.x1(i), boxes.y1(i), boxes.width(i), boxes.height(i)));
        }
        Instances objects = Instances.groundTruth(boxes, new int[boxes.size()]).withMasks(masks);
        return Sample.of(image, ImageInfo.of(size), objects);
    }
}
