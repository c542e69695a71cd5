package dev.saccade.datasets.transforms;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ImageScale;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.pillow.CenterCrop;
import dev.saccade.datasets.pillow.RandomResizedCrop;
import dev.saccade.datasets.pillow.ResizeEdge;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

class TransformsTest {

    static {
        OpenCv.load();
    }

    @Test
    void useTheDefaultSizeOfTheData() {
        InputSize size = new InputSize(Optional.of(List.of(64, 48)), Optional.of(List.of(32, 24)));
        Resize resize = Configs.of(Resize.class, "divisor=32");
        Resize own = Configs.of(Resize.class, "scales=[[96, 64]]");
        RandomCrop crop = Configs.of(RandomCrop.class, "mode=absolute");
        Pad pad = Configs.of(Pad.class);
        RandomChoice choice = new RandomChoice(List.of(List.of(resize), List.of(own, pad)));

        Resize sized = resize.to(List.of(64, 48));
        Pad filled = new Pad(List.of(32, 24), 32);
        assertEquals(
                List.of(
                        sized,
                        own,
                        new RandomCrop(
                                RandomCrop.Mode.ABSOLUTE, List.of(32.0, 24.0), 1, false, true),
                        filled,
                        new RandomChoice(List.of(List.of(sized), List.of(own, filled)))),
                size.applyTo(List.of(resize, own, crop, pad, choice)));
        assertEquals(List.of(sized, pad), size.uncropped().applyTo(List.of(resize, pad)));
        InputSize none = new InputSize(Optional.empty(), Optional.empty());
        assertEquals(
                List.of(resize.to(List.of(1333, 800)), pad), none.applyTo(List.of(resize, pad)));
        SaccadeException refusal =
                assertThrows(SaccadeException.class, () -> none.applyTo(List.of(crop)));
        assertTrue(refusal.getMessage().contains("data.crop_size"), refusal.getMessage());
    }

    @Test
    void classifiersCropToTheImageSize() {
        RandomResizedCrop crop = Configs.of(RandomResizedCrop.class);
        ResizeEdge edge = Configs.of(ResizeEdge.class, "crop_fraction=0.9");
        ResizeEdge own = Configs.of(ResizeEdge.class, "scale=60");
        CenterCrop center = Configs.of(CenterCrop.class);
        List<Transform> all = List.of(crop, edge, own, center);
        InputSize square = new InputSize(Optional.of(List.of(96, 96)), Optional.empty());
        assertEquals(
                List.of(
                        Configs.of(RandomResizedCrop.class, "size=[96, 96]"),
                        Configs.of(ResizeEdge.class, "crop_fraction=0.9", "scale=106"),
                        own,
                        new CenterCrop(List.of(96, 96))),
                square.uncropped().applyTo(all));
        InputSize wide = new InputSize(Optional.of(List.of(96, 64)), Optional.empty());
        assertEquals(
                List.of(
                        Configs.of(RandomResizedCrop.class, "size=[64, 96]"),
                        own,
                        new CenterCrop(List.of(64, 96))),
                wide.applyTo(List.of(crop, own, center)));
        String message = assertThrows(SaccadeException.class, () -> wide.applyTo(all)).getMessage();
        assertTrue(message.contains("image_size [96, 64] is not square"), message);
        assertEquals(
                List.of(
                        Configs.of(ResizeEdge.class, "scale=256"),
                        new CenterCrop(List.of(224, 224))),
                new InputSize(Optional.empty(), Optional.empty())
                        .applyTo(List.of(Configs.of(ResizeEdge.class), center)));
    }

    @Test
    void areRegisteredByName() {
        Set<String> names = Configs.registered(Transform.class).keySet();
        assertTrue(
                names.containsAll(
                        List.of(
                                "random_choice",
                                "copy_paste",
                                "gaussian_blur",
                                "instaboost",
                                "mixup",
                                "mosaic",
                                "normalize",
                                "pad",
                                "photometric_distortion",
                                "random_affine",
                                "random_crop",
                                "random_erasing",
                                "random_flip",
                                "random_rotate90",
                                "resize")),
                names::toString);
    }

    @ParameterizedTest
    @CsvSource({
        "640, 427, 1199, 800",
        "333, 500, 800, 1201",
        "612, 612, 800, 800",
        "640, 480, 1067, 800",
        "1920, 1080, 1333, 750",
        "640, 200, 1333, 417",
    })
    void fitsSizesAsTheOriginal(int width, int height, int newWidth, int newHeight) {
        assertEquals(new Size(newHeight, newWidth), Resize.fit(new Size(height, width), 1333, 800));
    }

    @Property
    void fitTouchesTheFrameAndKeepsTheAspectRatio(
            @ForAll @IntRange(min = 32, max = 4000) int height,
            @ForAll @IntRange(min = 32, max = 4000) int width,
            @ForAll @IntRange(min = 100, max = 2000) int edge,
            @ForAll @IntRange(min = 100, max = 2000) int otherEdge) {
        Size fitted = Resize.fit(new Size(height, width), edge, otherEdge);
        int longEdge = Math.max(fitted.height(), fitted.width());
        int shortEdge = Math.min(fitted.height(), fitted.width());
        assertTrue(longEdge <= Math.max(edge, otherEdge));
        assertTrue(shortEdge <= Math.min(edge, otherEdge));
        assertTrue(longEdge == Math.max(edge, otherEdge) || shortEdge == Math.min(edge, otherEdge));
        assertEquals(
                (double) width / height * fitted.height(),
                fitted.width(),
                0.51 + 0.51 * width / height);
        assertEquals(fitted, Resize.fit(new Size(height, width), otherEdge, edge));
    }

    @Test
    void resizeScalesAndClipsBoxesAndMasks() {
        Sample sample = Resize.resize(sample(), new Size(120, 100));
        assertEquals(new Size(120, 100), sample.info().size());
        assertEquals(0.5f, sample.info().scaleX());
        assertEquals(2f, sample.info().scaleY());
        assertEquals(Boxes.of(10, 20, 30, 80, 100, 116, 100, 120), sample.targets().boxes());
        assertEquals(1200, sample.targets().mask(0).area());
        assertEquals(Boxes.of(40, 20, 100, 100), sample.targets().ignored());
    }

    /** Recorded from torchvision 0.22.1, {@code GeneralizedRCNNTransform(8, 12, ...)}. */
    @Test
    void resizesLikeTorchvision() {
        Mat image = new Mat(5, 7, CvType.CV_8UC3);
        byte[] pixels = new byte[5 * 7 * 3];
        for (int i = 0; i < pixels.length; i++) {
            int y = i / 21;
            int blueFirst = 2 - i % 3;
            pixels[i] = (byte) (y * y * 7 + i / 3 % 7 * 13 + blueFirst * 50);
        }
        image.put(0, 0, pixels);
        Instances objects = Instances.groundTruth(Boxes.of(1, 1, 6, 4), 0);
        Sample sample = Sample.of(image, ImageInfo.of(new Size(5, 7)), objects);
        Resize resize = Configs.of(Resize.class, "scales=[[12, 8]]", "backend=torch");

        Sample resized = resize.apply(sample, new SplittableRandom(0));

        assertEquals(new Size(8, 11), resized.info().size());
        assertArrayEquals(
                new double[] {130.7671, 80.7670, 30.7670}, resized.image().get(2, 3), 1e-3);
        assertArrayEquals(
                new double[] {238.8125, 188.8125, 138.8125}, resized.image().get(5, 10), 1e-3);
        assertArrayEquals(
                new float[] {1.5714f, 1.6f, 9.4286f, 6.4f},
                resized.targets().boxes().toArray(),
                1e-4f);
        assertEquals(new Size(8, 11), resize.scale(ImageScale.of(new Size(5, 7))).size());
    }

    @Test
    void aSecondResizeReplacesTheFirst() {
        Sample once = Resize.resize(sample(), new Size(120, 100));
        Sample twice = Resize.resize(once, new Size(60, 200));
        assertEquals(2f, twice.info().scaleX());
        assertEquals(0.5f, twice.info().scaleY());
        assertEquals(new Size(60, 200), twice.info().original());
    }

    @Property(tries = 50)
    void drawsEdgesOfARangeBetweenThoseGiven(@ForAll long seed) {
        Resize resize =
                new Resize(
                        List.of(List.of(64, 40), List.of(80, 48)),
                        Resize.Mode.RANGE,
                        true,
                        List.of(),
                        1);
        try (Sample sample = resize.apply(sample(), new SplittableRandom(seed))) {
            Size size = sample.info().size();
            assertTrue(size.width() >= 64 && size.width() <= 80, size.toString());
            assertTrue(size.height() <= 24, size.toString());
        }
    }

    @ParameterizedTest
    @CsvSource({"HORIZONTAL", "VERTICAL"})
    void flippingTwiceChangesNothing(RandomFlip.Direction direction) {
        RandomFlip flip = new RandomFlip(1, direction);
        Sample before = sample();
        Sample once = flip.flip(sample());
        assertTrue(difference(before.image(), once.image()) > 0);
        assertEquals(direction == RandomFlip.Direction.HORIZONTAL, once.info().flipped());
        Sample twice = flip.flip(once);
        assertEquals(0, difference(before.image(), twice.image()));
        assertEquals(before.targets().masks(), twice.targets().masks());
        assertEquals(before.targets().boxes(), twice.targets().boxes());
        assertEquals(before.targets().ignored(), twice.targets().ignored());
        assertEquals(before.info(), twice.info());
    }

    @Test
    void flipMovesBoxesWithTheirPixels() {
        Sample sample = new RandomFlip(1, RandomFlip.Direction.HORIZONTAL).flip(sample());
        assertEquals(Boxes.of(140, 10, 180, 40, -100, 58, -5, 90), sample.targets().boxes());
        assertEquals(new Rle.Bounds(140, 10, 40, 30), sample.targets().mask(0).bounds());
        assertEquals(Boxes.of(-20, 10, 120, 50), sample.targets().ignored());
    }

    @Test
    void cropDropsObjectsOutsideAndKeepsPixels() {
        Mat whole = sample().image();
        Sample sample = RandomCrop.crop(sample(), 20, 30, new Size(25, 50));
        assertEquals(Boxes.of(0, 0, 30, 20), sample.targets().boxes());
        assertEquals(1, sample.targets().masks().size());
        assertEquals(new Rle.Bounds(0, 0, 30, 20), sample.targets().mask(0).bounds());
        assertEquals(Boxes.of(), sample.targets().ignored());
        assertEquals(new Size(25, 50), sample.info().size());
        assertArrayEquals(whole.get(20 + 3, 30 + 7), sample.image().get(3, 7));
    }

    @Test
    void cropsTheImageSizeInTheOrientationOfTheImage() {
        RandomCrop unsized = Configs.of(RandomCrop.class, "mode=image_size");
        InputSize landscape = new InputSize(Optional.of(List.of(80, 40)), Optional.empty());
        InputSize portrait = new InputSize(Optional.of(List.of(40, 80)), Optional.empty());
        for (InputSize input : List.of(landscape, portrait)) {
            RandomCrop crop = unsized.withDefaultSize(input);
            for (Size image : List.of(new Size(60, 200), new Size(200, 60))) {
                Size expected =
                        image.height() > image.width() ? new Size(80, 40) : new Size(40, 80);
                assertEquals(expected, crop.scale(new ImageScale(image, 1)).size());
            }
        }
    }

    @Property(tries = 100)
    void cropStaysInsideTheImageAndAllBoxesInsideTheCrop(
            @ForAll long seed, @ForAll RandomCrop.Mode mode) {
        boolean isShare = mode.name().startsWith("RELATIVE");
        List<Double> edges = isShare ? List.of(0.4, 0.2) : List.of(20.0, 300.0);
        RandomCrop crop = new RandomCrop(mode, edges, 1, false, true);
        try (Sample sample = crop.apply(sample(), new SplittableRandom(seed))) {
            Size size = sample.info().size();
            assertTrue(size.height() >= 20 && size.height() <= 60, size.toString());
            assertTrue(size.width() >= 20 && size.width() <= 200, size.toString());
            Boxes boxes = sample.targets().boxes();
            assertEquals(boxes, boxes.clip(size));
            for (int i = 0; i < boxes.size(); i++) {
                assertTrue(boxes.area(i) > 0);
            }
            assertEquals(boxes.size(), sample.targets().masks().size());
            sample.targets().masks().forEach(mask -> assertEquals(size, mask.size()));
        }
    }

    @Test
    void acceptsACropWithoutObjects() {
        Sample sample = RandomCrop.crop(sample(), 0, 100, new Size(20, 20));
        assertEquals(0, sample.targets().size());
        assertEquals(List.of(), sample.targets().masks());
        assertEquals(Boxes.of(0, 10, 20, 20), sample.targets().ignored());
    }

    @Test
    void padsMasks() {
        Sample sample = new Pad(List.of(), 32).apply(sample(), new SplittableRandom(1));
        assertEquals(new Size(64, 224), sample.info().padded());
        assertEquals(new Size(60, 200), sample.info().size());
        assertEquals(new Size(64, 224), sample.targets().mask(0).size());
        assertEquals(new Rle.Bounds(20, 10, 40, 30), sample.targets().mask(0).bounds());
    }

    @Test
    void rejectsResizingAfterNormalization() {
        SplittableRandom random = new SplittableRandom(1);
        Sample normalized = Configs.of(Normalize.class).apply(sample(), random);
        assertEquals(
                "transforms: normalize and pad must come last; move the other transforms before"
                        + " them",
                assertThrows(
                                SaccadeException.class,
                                () -> Configs.of(Resize.class).apply(normalized, random))
                        .getMessage());
    }

    @Test
    void choosesEveryBranch() {
        RandomChoice choice =
                new RandomChoice(
                        List.of(
                                List.of(new RandomFlip(1, RandomFlip.Direction.HORIZONTAL)),
                                List.of()));
        SplittableRandom random = new SplittableRandom(1);
        int flipped = 0;
        for (int i = 0; i < 100; i++) {
            flipped += choice.apply(sample(), random).info().flipped() ? 1 : 0;
        }
        assertTrue(flipped > 30 && flipped < 70, flipped + " of 100");
    }

    @Test
    void distortsFloatsWithoutClipping() {
        PhotometricDistortion distortion = Configs.of(PhotometricDistortion.class);
        Mat gray = new Mat(4, 4, CvType.CV_8UC3, new Scalar(200, 200, 200));
        Mat distorted =
                distortion.distort(gray, draws(Optional.of(20.0), Optional.of(1.5), List.of()));
        assertEquals(CvType.CV_32FC3, distorted.type());
        assertArrayEquals(new double[] {330, 330, 330}, distorted.get(2, 2), 1e-3);
        assertArrayEquals(new double[] {200, 200, 200}, gray.get(2, 2));
    }

    @Test
    void distortsBytesAndRoundsDown() {
        PhotometricDistortion distortion =
                new PhotometricDistortion(
                        PhotometricDistortion.Variant.SEGMENTATION,
                        32,
                        List.of(0.5, 1.5),
                        List.of(0.5, 1.5),
                        18);
        Mat gray = new Mat(4, 4, CvType.CV_8UC3, new Scalar(99, 200, 10));
        Mat distorted =
                distortion.distort(gray, draws(Optional.of(-20.0), Optional.of(1.5), List.of()));
        assertArrayEquals(new double[] {118, 255, 0}, distorted.get(2, 2));
    }

    @Test
    void permutesChannels() {
        Mat color = new Mat(4, 4, CvType.CV_8UC3, new Scalar(10, 20, 30));
        Mat distorted =
                Configs.of(PhotometricDistortion.class)
                        .distort(
                                color, draws(Optional.empty(), Optional.empty(), List.of(2, 0, 1)));
        assertArrayEquals(new double[] {30, 10, 20}, distorted.get(0, 0), 1e-3);
    }

    @Test
    void rejectsInvalidSettingsByKey() {
        assertRefused("scales", () -> new Resize(List.of(), Resize.Mode.RANGE, true, List.of(), 1));
        assertRefused("image_size", () -> new InputSize(Optional.of(List.of(8)), Optional.empty()));
        assertRefused(
                "expected two pairs for mode range",
                () -> new Resize(List.of(List.of(8, 8)), Resize.Mode.RANGE, true, List.of(), 1));
        assertRefused(
                "ratio_range",
                () ->
                        new Resize(
                                List.of(List.of(8, 8)),
                                Resize.Mode.VALUE,
                                true,
                                List.of(2.0, 1.0),
                                1));
        assertRefused("probability", () -> new RandomFlip(1.5, RandomFlip.Direction.HORIZONTAL));
        assertRefused(
                "size",
                () -> new RandomCrop(RandomCrop.Mode.ABSOLUTE, List.of(0.0, 1.0), 1, false, true));
        assertRefused("divisor", () -> new Pad(List.of(), 0));
        assertRefused("std", () -> new Normalize(List.of(1.0, 1.0, 1.0), List.of(1.0, 0.0, 1.0)));
        assertRefused("branches", () -> new RandomChoice(List.of()));
    }

    @Test
    void rejectsImagesWithTooManyPixels() {
        List<Transform> enormous =
                List.of(
                        new Resize(
                                List.of(List.of(30_000, 30_000)),
                                Resize.Mode.VALUE,
                                false,
                                List.of(),
                                1),
                        new Resize(
                                List.of(List.of(30_000, 30_000)),
                                Resize.Mode.VALUE,
                                true,
                                List.of(900.0, 1000.0),
                                4096),
                        new Pad(List.of(30_000, 30_000), 1));
        for (Transform transform : enormous) {
            SaccadeException thrown =
                    assertThrows(
                            SaccadeException.class,
                            () -> transform.apply(sample(), new SplittableRandom(1)));
            assertEquals(SaccadeException.Kind.USER, thrown.kind());
            assertTrue(
                    thrown.getMessage().contains("at most 178 million pixels"),
                    thrown.getMessage());
        }
    }

    @Test
    void rejectsBatchesWithTooManyPixels() {
        Sample large = new Pad(List.of(10_000, 10_000), 1).apply(sample(), new SplittableRandom(1));
        SaccadeException thrown =
                assertThrows(SaccadeException.class, () -> Batch.collate(List.of(large, large)));
        assertTrue(thrown.getMessage().contains("data.batch_size"), thrown.getMessage());
    }

    private static void assertRefused(String key, Runnable construction) {
        IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, construction::run);
        assertTrue(thrown.getMessage().contains(key), thrown.getMessage());
    }

    private static PhotometricDistortion.Parameters draws(
            Optional<Double> brightness, Optional<Double> contrast, List<Integer> permutation) {
        return new PhotometricDistortion.Parameters(
                brightness, true, contrast, Optional.empty(), Optional.empty(), permutation);
    }

    private static double difference(Mat a, Mat b) {
        return Core.norm(a, b, Core.NORM_L1);
    }

    /** A gradient of 60 by 200 with one object inside, one and a crowd that stick out. */
    private static Sample sample() {
        Mat image = new Mat(60, 200, CvType.CV_8UC3);
        byte[] pixels = new byte[60 * 200 * 3];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = (byte) (i % 251);
        }
        image.put(0, 0, pixels);
        Size size = new Size(60, 200);
        return Sample.of(
                image,
                ImageInfo.of(size),
                Instances.groundTruth(Boxes.of(20, 10, 60, 40, 205, 58, 300, 90), 3, 4)
                        .withMasks(
                                List.of(
                                        Rle.fromBox(size, 20, 10, 40, 30),
                                        Rle.fromBox(size, 190, 58, 10, 2)))
                        .withIgnored(Boxes.of(80, 10, 220, 50)));
    }
}
