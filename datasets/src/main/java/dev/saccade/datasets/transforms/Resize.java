package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ImageScale;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.imgproc.Imgproc;

import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Resizes the image (bilinear), masks and label maps (nearest) and boxes, like mmdetection's {@code
 * Resize} or torchvision's {@code GeneralizedRCNNTransform}. Boxes are clipped to the new image;
 * boxes without area are kept.
 *
 * @param scales pairs of edges in pixels. With {@code keepRatio}, the maximum long and short edge
 *     in any order; otherwise width and height. If empty, the data's {@code image_size}, or [1333,
 *     800]
 * @param mode how to select from several pairs
 * @param keepRatio whether to keep the aspect ratio
 * @param ratioRange if not empty, multiplies the pair by a random number between these two
 * @param divisor if above 1, resizes a second time to multiples of this, like {@code AlignResize}
 *     of PVT's SemanticFPN
 * @param backend how pixels and edges are rounded
 */
@Component("resize")
public record Resize(
        @Default("[]") List<List<Integer>> scales,
        @Default("value") Mode mode,
        @Default("true") boolean keepRatio,
        @Default("[]") List<Double> ratioRange,
        @Default("1") int divisor,
        @Default("cv2") Backend backend)
        implements Transform {

    static final int MAX_SCALES = 100;

    private static final List<Integer> DEFAULT_SCALE = List.of(1333, 800);

    public enum Mode {
        /** A random pair. */
        VALUE,
        /** Long and short edge sampled independently between two pairs, inclusive. */
        RANGE
    }

    public enum Backend {
        /** Pixels are rounded to integers, and edges to the nearest integer, as in mmcv. */
        CV2,
        /** Pixels are not rounded, and edges are rounded down, as in torchvision's detectors. */
        TORCH
    }

    /** Creates a transform that rounds like mmcv. */
    public Resize(
            List<List<Integer>> scales,
            Mode mode,
            boolean keepRatio,
            List<Double> ratioRange,
            int divisor) {
        this(scales, mode, keepRatio, ratioRange, divisor, Backend.CV2);
    }

    public Resize {
        scales = scales.stream().map(List::copyOf).toList();
        ratioRange = List.copyOf(ratioRange);
        Checks checks =
                checks(scales)
                        .size("scales", scales, 0, MAX_SCALES)
                        .inRange("divisor", divisor, 1, 4096);
        if (!ratioRange.isEmpty()) {
            checks.range("ratio_range", ratioRange, 0.001, 1000);
        }
        checks.throwIfAny();
        Checks.require(
                mode != Mode.RANGE || scales.size() == 2,
                "scales",
                scales,
                "two pairs for mode range");
    }

    static Checks checks(List<List<Integer>> scales) {
        Checks checks = new Checks();
        for (int i = 0; i < scales.size(); i++) {
            String key = "scales[" + i + "]";
            checks.size(key, scales.get(i), 2, 2).each(key, scales.get(i), 1, InputSize.MAX_EDGE);
        }
        return checks;
    }

    Resize to(List<Integer> scale) {
        return new Resize(List.of(scale), Mode.VALUE, keepRatio, List.of(), divisor, backend);
    }

    /** Returns this transform with all scales multiplied by a ratio and rounded down. */
    Resize times(double ratio) {
        return ratio == 1 ? this : with(pairs().stream().map(pair -> scaled(pair, ratio)).toList());
    }

    private Resize with(List<List<Integer>> others) {
        return new Resize(others, mode, keepRatio, ratioRange, divisor, backend);
    }

    private List<List<Integer>> pairs() {
        return scales.isEmpty() ? List.of(DEFAULT_SCALE) : scales;
    }

    private static List<Integer> scaled(List<Integer> pair, double ratio) {
        return pair.stream().map(edge -> Math.max(1, (int) (edge * ratio))).toList();
    }

    @Override
    public Resize withDefaultSize(InputSize size) {
        return scales.isEmpty() ? with(List.of(size.imageSize().orElse(DEFAULT_SCALE))) : this;
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        Size target = target(sample.info().size(), sampleScale(random));
        Size aligned = target.roundUpTo(divisor);
        if (aligned.equals(target)) {
            return resize(sample, target, backend);
        }
        ImageInfo before = sample.info();
        Sample twice = resize(resize(sample, target, backend), aligned, backend);
        return twice.with(twice.image(), scaled(before, aligned), twice.targets());
    }

    private Size target(Size image, List<Integer> scale) {
        return keepRatio
                ? fit(image, scale.get(0), scale.get(1), backend)
                : new Size(/* height= */ scale.get(1), /* width= */ scale.get(0));
    }

    @Override
    public ImageScale scale(ImageScale image) {
        double ratio = ratioRange.isEmpty() ? 1 : ratioRange.get(1);
        List<List<Integer>> pairs =
                switch (mode) {
                    case VALUE -> pairs();
                    case RANGE -> {
                        int longEdge = Math.max(longEdge(0), longEdge(1));
                        yield List.of(List.of(longEdge, Math.max(shortEdge(0), shortEdge(1))));
                    }
                };
        return pairs.stream()
                .map(pair -> target(image.size(), scaled(pair, ratio)).roundUpTo(divisor))
                .max(Comparator.comparingLong(Size::area))
                .map(image::resized)
                .orElse(image);
    }

    /**
     * Returns the largest size with the image's aspect ratio that does not exceed the long and
     * short edge, given in any order; rounded like mmcv's {@code rescale_size}.
     */
    public static Size fit(Size image, int edge, int otherEdge) {
        return fit(image, edge, otherEdge, Backend.CV2);
    }

    private static Size fit(Size image, int edge, int otherEdge, Backend backend) {
        int longEdge = Math.max(image.height(), image.width());
        int shortEdge = Math.min(image.height(), image.width());
        double factor =
                Math.min(
                        (double) Math.max(edge, otherEdge) / longEdge,
                        (double) Math.min(edge, otherEdge) / shortEdge);
        double rounding = backend == Backend.CV2 ? 0.5 : 0;
        return new Size(
                Math.max(1, (int) (image.height() * factor + rounding)),
                Math.max(1, (int) (image.width() * factor + rounding)));
    }

    /** Resizes a sample; its scale factors are new over old edges, rounded to float32. */
    public static Sample resize(Sample sample, Size target) {
        return resize(sample, target, Backend.CV2);
    }

    private static Sample resize(Sample sample, Size target, Backend backend) {
        ImageInfo info = scaled(sample.info(), target);
        return sample.transform(
                resize(sample.image(), target, backend),
                info,
                boxes -> boxes.scale(info.scaleX(), info.scaleY()).clip(target),
                mask -> mask.resize(target),
                map -> map.resize(target));
    }

    private static ImageInfo scaled(ImageInfo info, Size target) {
        return info.resized(
                target,
                (float) ((double) target.width() / info.size().width()),
                (float) ((double) target.height() / info.size().height()));
    }

    static Mat resize(Mat image, Size target, Backend backend) {
        Mat source = image;
        if (backend == Backend.TORCH) {
            source = new Mat();
            image.convertTo(source, CvType.CV_32F);
        }
        Mat resized = new Mat();
        org.opencv.core.Size size = new org.opencv.core.Size(target.width(), target.height());
        Imgproc.resize(source, resized, size, 0, 0, Imgproc.INTER_LINEAR);
        if (source != image) {
            source.release();
        }
        return resized;
    }

    private List<Integer> sampleScale(SplittableRandom random) {
        List<Integer> scale =
                switch (mode) {
                    case VALUE ->
                            scales.isEmpty()
                                    ? DEFAULT_SCALE
                                    : scales.get(random.nextInt(scales.size()));
                    case RANGE ->
                            List.of(
                                    between(random, longEdge(0), longEdge(1)),
                                    between(random, shortEdge(0), shortEdge(1)));
                };
        if (ratioRange.isEmpty()) {
            return scale;
        }
        double ratio =
                ratioRange.get(0) + (ratioRange.get(1) - ratioRange.get(0)) * random.nextDouble();
        return scaled(scale, ratio);
    }

    private int longEdge(int pair) {
        return Math.max(scales.get(pair).get(0), scales.get(pair).get(1));
    }

    private int shortEdge(int pair) {
        return Math.min(scales.get(pair).get(0), scales.get(pair).get(1));
    }

    private static int between(SplittableRandom random, int a, int b) {
        return random.nextInt(Math.min(a, b), Math.max(a, b) + 1);
    }
}
