package dev.saccade.datasets.transforms;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.OpenCv;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import org.junit.jupiter.api.Test;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.imgproc.Imgproc;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

class LabelTransformsTest {

    static {
        OpenCv.load();
    }

    @Property(tries = 100)
    void cropAndFlipMoveLabelsWithTheirPixels(
            @ForAll long seed,
            @ForAll @IntRange(min = 1, max = 40) int height,
            @ForAll @IntRange(min = 1, max = 40) int width,
            @ForAll RandomFlip.Direction direction) {
        SplittableRandom random = new SplittableRandom(seed);
        Sample sample = noise(new Size(height, width), random);
        List<Transform> steps =
                List.of(
                        new RandomCrop(
                                RandomCrop.Mode.ABSOLUTE, List.of(20.0, 30.0), 0.75, false, true),
                        new RandomFlip(0.5, direction));
        for (Transform step : steps) {
            sample = step.apply(sample, random);
        }
        try (Sample moved = sample) {
            LabelMap labels = moved.labels().orElseThrow();
            assertEquals(new Size(Math.min(20, height), Math.min(30, width)), labels.size());
            assertEquals(moved.info().size(), labels.size());
            assertEquals(inPixels(moved.image()), labels);
        }
    }

    @Property(tries = 100)
    void resizeMovesLabelsAsOpenCvsNearestNeighbor(
            @ForAll long seed,
            @ForAll @IntRange(min = 1, max = 60) int height,
            @ForAll @IntRange(min = 1, max = 60) int width) {
        Sample sample = noise(new Size(17, 23), new SplittableRandom(seed));
        Mat expected = new Mat();
        Imgproc.resize(
                sample.image(),
                expected,
                new org.opencv.core.Size(width, height),
                0,
                0,
                Imgproc.INTER_NEAREST);
        try (Sample resized = Resize.resize(sample, new Size(height, width))) {
            assertEquals(inPixels(expected), resized.labels().orElseThrow());
        }
        expected.release();
    }

    @Test
    void resizesTwiceToMultiples() {
        Sample sample = noise(new Size(60, 83), new SplittableRandom(1));
        LabelMap labels = sample.labels().orElseThrow();
        Resize resize =
                new Resize(List.of(List.of(128, 48)), Resize.Mode.VALUE, true, List.of(), 32);
        try (Sample aligned = resize.apply(sample, new SplittableRandom(1))) {
            Size size = new Size(64, 96);
            assertEquals(size, aligned.info().size());
            assertEquals(96f / 83, aligned.info().scaleX());
            assertEquals(64f / 60, aligned.info().scaleY());
            assertEquals(
                    labels.resize(new Size(48, 66)).resize(size), aligned.labels().orElseThrow());
        }
    }

    @Test
    void padsToASizeAndIgnoresPadding() {
        Sample sample = noise(new Size(60, 20), new SplittableRandom(1));
        LabelMap labels = sample.labels().orElseThrow();
        try (Sample padded = new Pad(List.of(48, 32), 1).apply(sample, new SplittableRandom(1))) {
            assertEquals(new Size(60, 32), padded.info().padded());
            LabelMap larger = padded.labels().orElseThrow();
            assertEquals(labels, larger.crop(0, 0, new Size(60, 20)));
            assertEquals(
                    LabelMap.filled(new Size(60, 12), LabelMap.IGNORE),
                    larger.crop(0, 20, new Size(60, 12)));
        }
    }

    @Test
    void leavesLabelsWhereColorsChange() {
        Sample sample = noise(new Size(8, 8), new SplittableRandom(1));
        LabelMap labels = sample.labels().orElseThrow();
        try (Sample distorted =
                Configs.of(PhotometricDistortion.class).apply(sample, new SplittableRandom(1))) {
            assertEquals(labels, distorted.labels().orElseThrow());
        }
    }

    /** Follows mmsegmentation's loop, crop by crop, with the same draws. */
    @Property(tries = 200)
    void cropsWithoutOneClassThatHasNearlyAll(
            @ForAll long seed, @ForAll @IntRange(min = 2, max = 30) int border) {
        Size image = new Size(40, 40);
        short[] stored = new short[1600];
        for (int i = 0; i < stored.length; i++) {
            int x = i % 40;
            stored[i] = (short) (x < border ? 0 : x < border + 5 ? LabelMap.IGNORE : 1);
        }
        LabelMap labels = LabelMap.of(image, stored);
        Size part = new Size(10, 12);

        SplittableRandom draws = new SplittableRandom(seed);
        int[] corner = corner(draws);
        for (int attempt = 0; attempt < 10; attempt++) {
            long[] counts = labels.crop(corner[0], corner[1], part).histogram(2);
            double total = counts[0] + counts[1];
            if (counts[0] > 0 && counts[1] > 0 && Math.max(counts[0], counts[1]) / total < 0.75) {
                break;
            }
            corner = corner(draws);
        }

        RandomCrop crop =
                new RandomCrop(RandomCrop.Mode.ABSOLUTE, List.of(10.0, 12.0), 0.75, false, true);
        Mat pixels = new Mat(40, 40, CvType.CV_8UC3);
        pixels.put(0, 0, coordinates());
        try (Sample sample =
                crop.apply(
                        Sample.of(pixels, ImageInfo.of(image), labels),
                        new SplittableRandom(seed))) {
            double[] first = sample.image().get(0, 0);
            assertEquals(corner[0], first[0]);
            assertEquals(corner[1], first[1]);
        }
    }

    private static int[] corner(SplittableRandom draws) {
        return new int[] {draws.nextInt(31), draws.nextInt(29)};
    }

    private static byte[] coordinates() {
        byte[] pixels = new byte[40 * 40 * 3];
        for (int i = 0; i < 1600; i++) {
            pixels[3 * i] = (byte) (i / 40);
            pixels[3 * i + 1] = (byte) (i % 40);
        }
        return pixels;
    }

    @Test
    void samplesAgainUntilACropIsVaried() {
        Size image = new Size(40, 40);
        short[] stored = new short[1600];
        Arrays.fill(stored, 0, 800, (short) 1);
        LabelMap labels = LabelMap.of(image, stored);
        RandomCrop crop =
                new RandomCrop(RandomCrop.Mode.ABSOLUTE, List.of(20.0, 20.0), 0.75, false, true);
        long varied =
                IntStream.range(0, 200)
                        .filter(
                                seed -> {
                                    Mat pixels = new Mat(40, 40, CvType.CV_8UC3);
                                    try (Sample sample =
                                            crop.apply(
                                                    Sample.of(pixels, ImageInfo.of(image), labels),
                                                    new SplittableRandom(seed))) {
                                        LabelMap found = sample.labels().orElseThrow();
                                        return found.maxClassRatio() < 0.75;
                                    }
                                })
                        .count();
        // Nearly half of all parts are varied; of eleven draws, one in seven hundred finds none.
        assertTrue(varied >= 197, varied + " of 200");
    }

    /** Returns a sample whose blue value is the label, 250 where it is ignored. */
    private static Sample noise(Size size, SplittableRandom random) {
        int cells = Math.toIntExact(size.area());
        byte[] pixels = new byte[3 * cells];
        for (int i = 0; i < cells; i++) {
            pixels[3 * i] = (byte) (random.nextInt(4) == 0 ? 250 : random.nextInt(5));
        }
        Mat image = new Mat(size.height(), size.width(), CvType.CV_8UC3);
        image.put(0, 0, pixels);
        return Sample.of(image, ImageInfo.of(size), inPixels(image));
    }

    private static LabelMap inPixels(Mat image) {
        byte[] pixels = new byte[Math.toIntExact(image.total()) * 3];
        image.get(0, 0, pixels);
        short[] labels = new short[pixels.length / 3];
        for (int i = 0; i < labels.length; i++) {
            int value = pixels[3 * i] & 0xFF;
            labels[i] = (short) (value == 250 ? LabelMap.IGNORE : value);
        }
        return LabelMap.of(new Size(image.rows(), image.cols()), labels);
    }
}
