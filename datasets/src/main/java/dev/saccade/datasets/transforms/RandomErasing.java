package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;

import org.opencv.core.Mat;
import org.opencv.core.Rect;
import org.opencv.core.Scalar;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Fills random rectangles with a color (Zhong et al. 2017; mmdetection's {@code RandomErasing}).
 *
 * <p>Erased pixels are removed from masks and ignored in label maps. Boxes do not change. Drops
 * objects whose box is mostly erased, or whose mask is completely erased.
 *
 * @param nPatches minimum and maximum number of rectangles
 * @param ratio range of the height and width of a rectangle relative to the image
 * @param squared whether height and width have the same ratio
 * @param bboxErasedThr drops objects and ignored regions if at least this fraction of their box is
 *     erased; overlaps of rectangles count twice
 * @param imgBorderValue BGR color of erased pixels
 * @param prob probability of applying the transform
 */
@Component("random_erasing")
public record RandomErasing(
        @Default("[1, 5]") List<Integer> nPatches,
        @Default("[0, 0.2]") List<Double> ratio,
        @Default("true") boolean squared,
        @Default("0.9") double bboxErasedThr,
        @Default("[128, 128, 128]") List<Double> imgBorderValue,
        @Default("1") double prob)
        implements Transform {

    private static final double EPSILON = 1e-7;

    public RandomErasing {
        nPatches = List.copyOf(nPatches);
        ratio = List.copyOf(ratio);
        imgBorderValue = List.copyOf(imgBorderValue);
        new Checks()
                .range("n_patches", nPatches, 0, 1000)
                .range("ratio", ratio, 0, 1)
                .inRange("bbox_erased_thr", bboxErasedThr, 0, 1)
                .each("img_border_value", imgBorderValue, 3, 0, 255)
                .inRange("prob", prob, 0, 1)
                .throwIfAny();
    }

    /** A rectangle in whole pixels. */
    public record Patch(int x1, int y1, int x2, int y2) {}

    @Override
    public Optional<String> incompatibility(PixelFormat pixels) {
        return Channels.colorIncompatibility("img_border_value", imgBorderValue, pixels);
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        return random.nextDouble() < prob
                ? erase(sample, samplePatches(sample.info().size(), random))
                : sample;
    }

    private List<Patch> samplePatches(Size image, SplittableRandom random) {
        int count = random.nextInt(nPatches.get(0), nPatches.get(1) + 1);
        List<Patch> patches = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            double tall = sampleRatio(random);
            double wide = squared ? tall : sampleRatio(random);
            int height = (int) (image.height() * tall);
            int width = (int) (image.width() * wide);
            int x = random.nextInt(image.width() - width + 1);
            int y = random.nextInt(image.height() - height + 1);
            patches.add(new Patch(x, y, x + width, y + height));
        }
        return patches;
    }

    private double sampleRatio(SplittableRandom random) {
        return ratio.get(0) + (ratio.get(1) - ratio.get(0)) * random.nextDouble();
    }

    /** Erases patches, which must be inside the image. */
    public Sample erase(Sample sample, List<Patch> patches) {
        List<Patch> visible = patches.stream().filter(p -> p.x1 < p.x2 && p.y1 < p.y2).toList();
        if (visible.isEmpty()) {
            return sample;
        }
        Mat erased = sample.image().clone();
        Scalar color =
                new Scalar(imgBorderValue.get(0), imgBorderValue.get(1), imgBorderValue.get(2));
        for (Patch patch : visible) {
            Mat part =
                    erased.submat(
                            new Rect(patch.x1, patch.y1, patch.x2 - patch.x1, patch.y2 - patch.y1));
            Channels.fill(part, color);
            part.release();
        }
        Size size = sample.info().size();
        Rle region = Rle.union(visible.stream().map(patch -> mask(patch, size)).toList());
        return sample.with(erased, sample.info(), remaining(sample.targets(), visible, region))
                .mapLabels(map -> map.paste(region, LabelMap.filled(size, LabelMap.IGNORE)));
    }

    private static Rle mask(Patch patch, Size size) {
        return Rle.fromBox(size, patch.x1, patch.y1, patch.x2 - patch.x1, patch.y2 - patch.y1);
    }

    private Instances remaining(Instances objects, List<Patch> patches, Rle region) {
        Instances erased = objects.mapMasks(mask -> mask.minus(region));
        Boxes boxes = erased.boxes();
        int[] kept =
                IntStream.range(0, boxes.size())
                        .filter(i -> isKept(boxes, i, patches))
                        .filter(i -> !erased.hasMasks() || erased.mask(i).area() > 0)
                        .toArray();
        Boxes ignored = objects.ignored();
        int[] keptIgnored =
                IntStream.range(0, ignored.size())
                        .filter(i -> isKept(ignored, i, patches))
                        .toArray();
        return erased.select(kept).withIgnored(ignored.select(keptIgnored));
    }

    private boolean isKept(Boxes boxes, int i, List<Patch> patches) {
        double covered = 0;
        for (Patch patch : patches) {
            double width = Math.min(boxes.x2(i), patch.x2) - Math.max(boxes.x1(i), patch.x1);
            double height = Math.min(boxes.y2(i), patch.y2) - Math.max(boxes.y1(i), patch.y1);
            covered += Math.max(width, 0) * Math.max(height, 0);
        }
        return covered / (boxes.area(i) + EPSILON) < bboxErasedThr;
    }
}
