package dev.saccade.datasets.transforms;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
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
import dev.saccade.datasets.ImageScale;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.SamplePool;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.OpenCv;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** Augmentations move image, boxes, masks and label maps alike; parity has recorded values. */
class AugmentationsTest {

    private static final int OBJECT = 200;
    private static final int BACKGROUND = 40;

    static {
        OpenCv.load();
    }

    static Stream<Transform> geometric() {
        return Stream.of(
                Configs.of(Mosaic.class, "img_scale=[50, 60]"),
                Configs.of(
                        RandomAffine.class,
                        "max_rotate_degree=180",
                        "max_shear_degree=20",
                        "border=[9, -5]",
                        "center=true"),
                Configs.of(RandomRotate90.class),
                Configs.of(RandomErasing.class, "n_patches=[5, 9]", "squared=false"));
    }

    static Stream<Transform> all() {
        return Stream.concat(
                geometric(),
                Stream.of(Configs.of(MixUp.class), Configs.of(GaussianBlur.class, "prob=1")));
    }

    /** A light rectangle, of class 1, on a dark background, of class 0. */
    private static Sample sample(SplittableRandom random) {
        Size size = new Size(random.nextInt(30, 90), random.nextInt(30, 90));
        int width = random.nextInt(8, 20);
        int height = random.nextInt(8, 20);
        int left = random.nextInt(size.width() - width);
        int top = random.nextInt(size.height() - height);
        Rle mask = Rle.fromBox(size, left, top, width, height);
        byte[] pixels = new byte[3 * (int) size.area()];
        byte[] bitmap = mask.decode();
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = (byte) (bitmap[i / 3] != 0 ? OBJECT : BACKGROUND);
        }
        Mat image = new Mat(size.height(), size.width(), CvType.CV_8UC3);
        image.put(0, 0, pixels);
        Boxes box = Boxes.of(left, top, left + width, top + height);
        LabelMap labels = LabelMap.filled(size, 0).paste(mask, LabelMap.filled(size, 1));
        return Sample.of(
                image,
                ImageInfo.of(size),
                Instances.groundTruth(box, 3).withMasks(List.of(mask)).withIgnored(box),
                labels);
    }

    private static Sample apply(Transform transform, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        return Transform.applyAll(
                List.of(transform), sample(random), AugmentationsTest::sample, random);
    }

    private static byte[] pixels(Sample sample) {
        byte[] pixels = new byte[3 * (int) sample.info().size().area()];
        sample.image().get(0, 0, pixels);
        return pixels;
    }

    @ParameterizedTest
    @MethodSource("geometric")
    void moveMasksAndLabelsWithTheirPixels(Transform transform) {
        int objects = 0;
        for (int seed = 0; seed < 50; seed++) {
            try (Sample sample = apply(transform, seed)) {
                byte[] pixels = pixels(sample);
                LabelMap labels = sample.labels().orElseThrow();
                int wrong = 0;
                int light = 0;
                Size size = sample.info().size();
                byte[] masks =
                        Rle.union(
                                        Stream.concat(
                                                        Stream.of(Rle.empty(size)),
                                                        sample.targets().masks().stream())
                                                .toList())
                                .decode();
                for (int i = 0; i < masks.length; i++) {
                    int value = pixels[3 * i] & 0xff;
                    int label = labels.get(i / size.width(), i % size.width());
                    light += label == 1 ? 1 : 0;
                    wrong += label == 1 && value < 100 ? 1 : 0;
                    wrong += label == 0 && value > 150 ? 1 : 0;
                    wrong += masks[i] != 0 && label != 1 ? 1 : 0;
                }
                // Outlines may differ by a pixel: colors are interpolated, labels are not.
                assertTrue(wrong <= 4 + light / 4, wrong + " of " + light + " at " + seed);
                objects += sample.targets().size();
            }
        }
        assertTrue(objects > 40, objects + " objects");
    }

    @ParameterizedTest
    @MethodSource("all")
    void keepBoxesAroundMasksAndInsideTheImage(Transform transform) {
        for (int seed = 0; seed < 50; seed++) {
            try (Sample sample = apply(withoutErasing(transform), seed)) {
                Instances objects = sample.targets();
                assertEquals(objects.boxes(), objects.boxesFromMasks().boxes());
                assertEquals(objects.boxes(), objects.visible().boxes());
                assertEquals(objects.ignored(), objects.visible().ignored());
                Size size = sample.info().size();
                assertEquals(objects.ignored(), objects.ignored().clip(size));
                assertEquals(new Size(sample.image().rows(), sample.image().cols()), size);
            }
        }
    }

    /** Erasing changes masks but not boxes. */
    private static Transform withoutErasing(Transform transform) {
        return transform instanceof RandomErasing
                ? Configs.of(RandomErasing.class, "ratio=[0, 0]")
                : transform;
    }

    @ParameterizedTest
    @MethodSource("all")
    void dependOnTheGivenRandomNumbersOnly(Transform transform) {
        try (Sample one = apply(transform, 7);
                Sample again = apply(transform, 7);
                Sample other = apply(transform, 8)) {
            assertArrayEquals(pixels(one), pixels(again));
            assertEquals(one.targets().boxes(), again.targets().boxes());
            assertEquals(one.targets().masks(), again.targets().masks());
            assertEquals(one.labels(), again.labels());
            assertNotEquals(one.targets().masks(), other.targets().masks());
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    void neverWriteToSharedPixels(Transform transform) {
        SplittableRandom random = new SplittableRandom(5);
        Sample sample = sample(random);
        Mat before = sample.image().clone();
        try (Sample shared = sample.shallowCopy()) {
            transform.apply(sample, AugmentationsTest::sample, random).close();
            assertEquals(0, Core.norm(before, shared.image(), Core.NORM_L1));
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    void keepFloatImages(Transform transform) {
        SplittableRandom random = new SplittableRandom(5);
        Sample bytes = sample(random);
        Mat floats = new Mat();
        bytes.image().convertTo(floats, CvType.CV_32FC3);
        Sample sample = bytes.with(floats, bytes.info(), bytes.targets());
        try (Sample result = transform.apply(sample, AugmentationsTest::sample, random)) {
            assertEquals(CvType.CV_32FC3, result.image().type());
        }
    }

    @Test
    void areSkippedAtProbabilityZero() {
        for (Transform transform :
                List.of(
                        Configs.of(Mosaic.class, "prob=0"),
                        Configs.of(MixUp.class, "prob=0"),
                        Configs.of(RandomAffine.class, "prob=0"),
                        Configs.of(RandomRotate90.class, "prob=0"),
                        Configs.of(RandomErasing.class, "prob=0"),
                        Configs.of(GaussianBlur.class, "prob=0"))) {
            SplittableRandom random = new SplittableRandom(1);
            try (Sample sample = sample(random)) {
                assertSame(sample, transform.apply(sample, SamplePool.NONE, random));
            }
        }
    }

    @Test
    void fourQuarterTurnsChangeNothing() {
        for (int turns = 1; turns < 4; turns++) {
            SplittableRandom random = new SplittableRandom(turns);
            Sample sample = sample(random);
            byte[] before = pixels(sample);
            Sample turned = sample;
            for (int i = 0; i < 4; i++) {
                turned = RandomRotate90.rotate(turned, turns);
            }
            assertArrayEquals(before, pixels(turned));
            assertEquals(sample.targets().boxes(), turned.targets().boxes());
            assertEquals(sample.targets().masks(), turned.targets().masks());
            assertEquals(sample.labels(), turned.labels());
            assertEquals(sample.info(), turned.info());
            turned.close();
        }
    }

    @Property(tries = 50)
    void rotatesAroundTheCenterIfConfigured(@ForAll @IntRange(min = 0, max = 3) int turns) {
        RandomAffine affine = Configs.of(RandomAffine.class, "center=true");
        Sample square = Resize.resize(sample(new SplittableRandom(turns)), new Size(40, 40));
        byte[] expected;
        try (Sample turned = RandomRotate90.rotate(square.shallowCopy(), turns)) {
            expected = pixels(turned);
        }
        RandomAffine.Parameters params = new RandomAffine.Parameters(-90 * turns, 1, 0, 0, 0, 0);
        try (Sample warped = affine.warp(square, params)) {
            assertArrayEquals(expected, pixels(warped));
        }
    }

    @Test
    void mixupReadsOtherImagesWithoutPrecedingTransforms() {
        List<Size> sizes = new ArrayList<>();
        SamplePool pool =
                random -> {
                    Sample sample = sample(random);
                    sizes.add(sample.info().size());
                    return sample;
                };
        SplittableRandom random = new SplittableRandom(1);
        List<Transform> steps =
                List.of(Configs.of(Mosaic.class, "img_scale=[50, 50]"), Configs.of(MixUp.class));
        Transform.applyAll(steps, sample(random), pool, random).close();
        assertEquals(4, sizes.size());
    }

    @Test
    void areRejectedWithoutADataSet() {
        for (Transform step : List.of(Configs.of(Mosaic.class), Configs.of(MixUp.class))) {
            SplittableRandom random = new SplittableRandom(1);
            SaccadeException thrown =
                    assertThrows(
                            SaccadeException.class,
                            () -> Transform.applyAll(List.of(step), sample(random), random));
            assertTrue(thrown.getMessage().contains("needs other images"), thrown.getMessage());
        }
    }

    @Test
    void onlyMixupRejectsLabelMaps() {
        all().forEach(
                        transform -> {
                            boolean mixes = transform instanceof MixUp;
                            assertEquals(
                                    mixes,
                                    transform.incompatibility(TargetKind.LABEL_MAPS).isPresent());
                            assertFalse(transform.incompatibility(TargetKind.MASKS).isPresent());
                        });
    }

    @Test
    void rejectBordersThatLeaveNoPixels() {
        RandomAffine affine = Configs.of(RandomAffine.class, "border=[-320, -320]");
        SaccadeException thrown =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                affine.apply(
                                        sample(new SplittableRandom(1)), new SplittableRandom(1)));
        assertTrue(thrown.getMessage().contains("leaves no pixels"), thrown.getMessage());
    }

    @Test
    void rejectLargeSizesBeforeAllocatingMemory() {
        for (Transform transform :
                List.of(
                        Configs.of(Mosaic.class, "img_scale=[16384, 16384]"),
                        Configs.of(MixUp.class, "img_scale=[32768, 32768]"),
                        Configs.of(MixUp.class, "ratio_range=[1000, 1000]"),
                        Configs.of(RandomAffine.class, "border=[32768, 32768]"))) {
            SaccadeException thrown =
                    assertThrows(SaccadeException.class, () -> apply(transform, 1));
            assertTrue(
                    thrown.getMessage().contains("at most 178 million pixels"),
                    thrown.getMessage());
        }
    }

    @Test
    void rejectInvalidSettingsByKey() {
        assertRejected("img_scale[0]", () -> Configs.of(Mosaic.class, "img_scale=[0, 640]"));
        assertRejected(
                "center_ratio_range", () -> Configs.of(Mosaic.class, "center_ratio_range=[1, 3]"));
        assertRejected("ratio_range", () -> Configs.of(MixUp.class, "ratio_range=[2, 1]"));
        assertRejected("max_iters", () -> Configs.of(MixUp.class, "max_iters=0"));
        assertRejected(
                "max_shear_degree", () -> Configs.of(RandomAffine.class, "max_shear_degree=45"));
        assertRejected("border_val", () -> Configs.of(RandomAffine.class, "border_val=[1, 2]"));
        assertRejected("n_patches", () -> Configs.of(RandomErasing.class, "n_patches=[3, 1]"));
        assertRejected("kernel_size", () -> Configs.of(GaussianBlur.class, "kernel_size=4"));
        assertRejected("prob", () -> Configs.of(RandomRotate90.class, "prob=2"));
    }

    private static void assertRejected(String key, Runnable construction) {
        RuntimeException thrown = assertThrows(RuntimeException.class, construction::run);
        assertTrue(thrown.getMessage().contains(key), thrown.getMessage());
    }

    @Test
    void reportTheLargestScale() {
        ImageScale image = ImageScale.of(new Size(480, 640));
        assertEquals(
                new ImageScale(new Size(640, 640), 0.5),
                Configs.of(Mosaic.class, "img_scale=[320, 320]").scale(image));
        assertEquals(
                image, Configs.of(Mosaic.class, "img_scale=[320, 320]", "prob=0.5").scale(image));
        assertEquals(
                new ImageScale(new Size(280, 440), 1.5),
                Configs.of(RandomAffine.class, "border=[-100, -100]").scale(image));
    }
}
