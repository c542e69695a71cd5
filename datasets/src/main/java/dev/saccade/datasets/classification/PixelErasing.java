package dev.saccade.datasets.classification;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.BatchAugment;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Fills random rectangles of normalized images (Zhong et al. 2017), like timm's {@code
 * RandomErasing}.
 *
 * @param prob probability of erasing an image
 * @param area range of the area of all rectangles, relative to the image
 * @param minAspect minimum of height over width; the maximum is its inverse
 * @param count minimum and maximum number of rectangles
 */
@Component("pixel_erasing")
public record PixelErasing(
        @Default("0.25") double prob,
        @Default("[0.02, 0.3333333333333333]") List<Double> area,
        @Default("0.3") double minAspect,
        @Default("pixel") Mode mode,
        @Default("[1, 1]") List<Integer> count)
        implements BatchAugment {

    private static final int ATTEMPTS = 10;

    public enum Mode {
        /** The mean color. */
        CONST,
        /** A random color per rectangle. */
        RAND,
        /** A random color per pixel. */
        PIXEL
    }

    /** A rectangle in pixels. */
    public record Patch(int top, int left, int height, int width) {}

    public PixelErasing {
        area = List.copyOf(area);
        count = List.copyOf(count);
        new Checks()
                .inRange("prob", prob, 0, 1)
                .range("area", area, 0, 1)
                .inRange("min_aspect", minAspect, 0.001, 1)
                .range("count", count, 0, 1000)
                .throwIfAny();
    }

    @Override
    public void apply(Images batch, SplittableRandom random) {
        for (int image = 0; image < batch.count(); image++) {
            if (random.nextDouble() < prob) {
                erase(batch, image, random);
            }
        }
    }

    private void erase(Images batch, int image, SplittableRandom random) {
        Size size = batch.size();
        int rectangles = random.nextInt(count.get(0), count.get(1) + 1);
        double logAspect = Math.log(minAspect);
        for (int i = 0; i < rectangles; i++) {
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                double target =
                        (area.get(0) + (area.get(1) - area.get(0)) * random.nextDouble())
                                * size.area()
                                / rectangles;
                double aspect = Math.exp(logAspect * (1 - 2 * random.nextDouble()));
                int height = (int) Math.rint(Math.sqrt(target * aspect));
                int width = (int) Math.rint(Math.sqrt(target / aspect));
                if (width < size.width() && height < size.height()) {
                    int top = random.nextInt(size.height() - height + 1);
                    int left = random.nextInt(size.width() - width + 1);
                    erase(batch, image, new Patch(top, left, height, width), random);
                    break;
                }
            }
        }
    }

    /** Fills a rectangle of an image. */
    public void erase(Images batch, int image, Patch patch, SplittableRandom random) {
        for (int channel = 0; channel < batch.channels(); channel++) {
            float color = mode == Mode.CONST ? 0 : (float) random.nextGaussian();
            for (int y = patch.top; y < patch.top + patch.height; y++) {
                int row = batch.start(image, channel) + y * batch.size().width();
                for (int x = patch.left; x < patch.left + patch.width; x++) {
                    float value = mode == Mode.PIXEL ? (float) random.nextGaussian() : color;
                    batch.pixels().put(row + x, value);
                }
            }
        }
    }
}
