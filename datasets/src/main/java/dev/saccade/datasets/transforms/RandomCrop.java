package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import org.opencv.core.Mat;
import org.opencv.core.Rect;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Cuts out a part of the image, as mmdetection's {@code RandomCrop} with negative crops allowed: a
 * part without objects is background.
 *
 * <p>Boxes are moved and clipped; those without area are dropped, with their labels and masks.
 *
 * <p>Where the class of every pixel is known, parts that show nearly one class only can be drawn
 * again, as in mmsegmentation's {@code RandomCrop}.
 *
 * @param mode what {@code size} means
 * @param size two edges in pixels; an image edge that is shorter is taken whole. If empty, {@code
 *     crop_size} of the data
 * @param catMaxRatio below 1, a part in which a class has this share or more of the pixels that are
 *     not ignored, or in which all are ignored, is drawn again, ten times at most
 */
@Part("random_crop")
public record RandomCrop(
        @Default("absolute_range") Mode mode,
        @Default("[]") List<Integer> size,
        @Default("1") double catMaxRatio)
        implements Transform {

    private static final int MOST_REDRAWS = 10;

    /** What the size means. */
    public enum Mode {
        /** Height and width of the part. */
        ABSOLUTE,
        /** Least and largest edge; height and width are drawn between them, both included. */
        ABSOLUTE_RANGE
    }

    /** Checks the numbers. */
    public RandomCrop {
        size = List.copyOf(size);
        new Checks()
                .size("size", size, size.isEmpty() ? 0 : 2, 2)
                .each("size", size, 1, InputSize.MOST_EDGE)
                .above("cat_max_ratio", catMaxRatio, 0, 1)
                .throwIfAny();
        Checks.require(
                mode == Mode.ABSOLUTE || size.isEmpty() || size.get(0) <= size.get(1),
                "size",
                size,
                "the least edge first");
    }

    @Override
    public RandomCrop at(InputSize input) {
        RandomCrop sized =
                new RandomCrop(
                        mode, size.isEmpty() ? input.cropSize().orElse(size) : size, catMaxRatio);
        sized.requireSize();
        return sized;
    }

    private void requireSize() {
        if (size.isEmpty()) {
            throw SaccadeException.user(
                    "random_crop: size is missing; expected two edges in pixels, there or as"
                            + " data.crop_size");
        }
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        requireSize();
        Size image = sample.info().size();
        Size part = draw(image, random);
        int top;
        int left;
        int redraws = 0;
        do {
            top = random.nextInt(image.height() - part.height() + 1);
            left = random.nextInt(image.width() - part.width() + 1);
        } while (!isVaried(sample, top, left, part) && redraws++ < MOST_REDRAWS);
        return crop(sample, top, left, part);
    }

    private boolean isVaried(Sample sample, int top, int left, Size part) {
        return catMaxRatio == 1
                || sample.labels().isEmpty()
                || sample.labels().get().crop(top, left, part).largestShare() < catMaxRatio;
    }

    private Size draw(Size image, SplittableRandom random) {
        return switch (mode) {
            case ABSOLUTE ->
                    new Size(
                            Math.min(image.height(), size.get(0)),
                            Math.min(image.width(), size.get(1)));
            case ABSOLUTE_RANGE ->
                    new Size(drawEdge(image.height(), random), drawEdge(image.width(), random));
        };
    }

    private int drawEdge(int edge, SplittableRandom random) {
        return random.nextInt(Math.min(edge, size.get(0)), Math.min(edge, size.get(1)) + 1);
    }

    /** Returns the part of the sample with a given upper left corner. */
    public static Sample crop(Sample sample, int top, int left, Size part) {
        Rect frame = new Rect(left, top, part.width(), part.height());
        Sample cropped =
                sample.with(
                        cut(sample.image(), frame),
                        sample.info().cropped(part),
                        sample.targets()
                                .mapBoxes(boxes -> boxes.translate(-left, -top).clip(part))
                                .withArea()
                                .mapMasks(mask -> mask.crop(top, left, part)));
        return cropped.mapLabels(map -> map.crop(top, left, part));
    }

    /** A copy, so that the memory of the whole image is given back. */
    private static Mat cut(Mat image, Rect frame) {
        Mat part = new Mat(image, frame);
        Mat copy = part.clone();
        part.release();
        return copy;
    }
}
