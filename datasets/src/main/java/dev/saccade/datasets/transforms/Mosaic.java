package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ImageScale;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.SamplePool;
import dev.saccade.datasets.Transform;

import org.opencv.core.Mat;
import org.opencv.core.Rect;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * Combines the image with three others, to which the preceding transforms are applied as well, in
 * an image twice as large as {@code img_scale} (YOLOv4; mmdetection's {@code Mosaic}).
 *
 * <p>The four images meet at a random point, each resized to fit {@code img_scale}, and are cut off
 * at the edges. Boxes are clipped; boxes of objects with masks become the tightest around the
 * masks. Pixels without an image are ignored in label maps.
 *
 * @param imgScale width and height in pixels that each image is resized to fit
 * @param centerRatioRange range of the point where the images meet, relative to {@code imgScale}
 * @param padVal gray level of pixels without an image
 * @param prob probability of applying the transform
 */
@Component("mosaic")
public record Mosaic(
        @Default("[640, 640]") List<Integer> imgScale,
        @Default("[0.5, 1.5]") List<Double> centerRatioRange,
        @Default("114") int padVal,
        @Default("1") double prob)
        implements Transform {

    private static final int IMAGES = 4;

    public Mosaic {
        imgScale = List.copyOf(imgScale);
        centerRatioRange = List.copyOf(centerRatioRange);
        new Checks()
                .each("img_scale", imgScale, 2, 1, InputSize.MAX_EDGE / 2)
                .range("center_ratio_range", centerRatioRange, 0, 2)
                .inRange("pad_val", padVal, 0, 255)
                .inRange("prob", prob, 0, 1)
                .throwIfAny();
    }

    @Override
    public boolean needsOtherSamples() {
        return true;
    }

    @Override
    public ImageScale scale(ImageScale image) {
        double factor = image.factor() * Fit.ratio(image.size(), imgScale);
        return prob < 1 && factor < image.factor() ? image : new ImageScale(canvas(), factor);
    }

    private Size canvas() {
        return new Size(2 * imgScale.get(1), 2 * imgScale.get(0));
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        return apply(sample, SamplePool.NONE, random);
    }

    @Override
    public Sample apply(Sample sample, SamplePool others, SplittableRandom random) {
        if (random.nextDouble() >= prob) {
            return sample;
        }
        int x = sampleCenter(imgScale.get(0), random);
        int y = sampleCenter(imgScale.get(1), random);
        return combine(sample, () -> others.sample(random), x, y);
    }

    private int sampleCenter(int edge, SplittableRandom random) {
        double low = centerRatioRange.get(0);
        double high = centerRatioRange.get(1);
        return (int) ((low + (high - low) * random.nextDouble()) * edge);
    }

    /**
     * Combines a sample, at the top left, with three others, which are closed: top right, bottom
     * left and bottom right.
     *
     * @param centerX column where the images meet; likewise row {@code centerY}
     */
    public Sample combine(Sample sample, Supplier<Sample> others, int centerX, int centerY) {
        Size size = canvas();
        // Rejects sizes that are too large before memory is allocated.
        ImageInfo info = sample.info().cropped(size);
        Mat pixels = Channels.filled(size.height(), size.width(), sample.image().type(), padVal);
        short[] labels = new short[sample.labels().isPresent() ? (int) size.area() : 0];
        Arrays.fill(labels, (short) LabelMap.IGNORE);
        Canvas canvas = new Canvas(size, pixels, labels, new ArrayList<>());
        try {
            for (int i = 0; i < IMAGES; i++) {
                if (i == 0) {
                    add(canvas, sample, i, centerX, centerY);
                } else {
                    try (Sample other = others.get()) {
                        add(canvas, other, i, centerX, centerY);
                    }
                }
            }
            return sample.with(pixels, info, Instances.concat(canvas.objects).visible())
                    .mapLabels(map -> LabelMap.of(size, labels));
        } catch (RuntimeException e) {
            pixels.release();
            throw e;
        }
    }

    private void add(Canvas canvas, Sample sample, int position, int centerX, int centerY) {
        Size image = sample.info().size();
        double ratio = Fit.ratio(image, imgScale);
        Size fitted = Fit.size(image, ratio);
        int x = position % 2 == 0 ? centerX - fitted.width() : centerX;
        int y = position < 2 ? centerY - fitted.height() : centerY;
        canvas.paste(sample, fitted, (float) ratio, x, y);
    }

    /** The combined image while it is drawn; {@code labels} is empty without label maps. */
    @SuppressWarnings("ArrayRecordComponent") // private
    private record Canvas(Size size, Mat pixels, short[] labels, List<Instances> objects) {

        /** Pastes a sample, resized, at a position that may be outside. */
        void paste(Sample sample, Size fitted, float ratio, int x, int y) {
            int left = Math.max(0, -x);
            int top = Math.max(0, -y);
            Size part =
                    new Size(
                            Math.min(fitted.height(), size.height() - y) - top,
                            Math.min(fitted.width(), size.width() - x) - left);
            if (part.height() <= 0 || part.width() <= 0) {
                return;
            }
            Rect from = new Rect(left, top, part.width(), part.height());
            Rect to = new Rect(x + left, y + top, part.width(), part.height());
            pastePixels(sample.image(), fitted, from, to);
            objects.add(
                    sample.targets()
                            .mapBoxes(boxes -> boxes.scale(ratio, ratio).translate(x, y).clip(size))
                            .mapMasks(
                                    mask ->
                                            mask.resize(fitted)
                                                    .crop(top, left, part)
                                                    .place(to.y, to.x, size)));
            int offset = to.y * size.width() + to.x;
            sample.labels()
                    .ifPresent(
                            map ->
                                    map.resize(fitted)
                                            .copyTo(top, left, part, labels, offset, size.width()));
        }

        private void pastePixels(Mat image, Size fitted, Rect from, Rect to) {
            Mat resized = Fit.resize(image, fitted);
            Mat source = resized.submat(from);
            Mat target = pixels.submat(to);
            source.convertTo(target, pixels.type());
            source.release();
            target.release();
            resized.release();
        }
    }
}
