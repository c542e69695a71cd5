package dev.saccade.datasets.classification;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.ClassTarget;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.BatchAugment;

import java.nio.FloatBuffer;
import java.util.SplittableRandom;

/**
 * Mixes each image with the image at the opposite position of the batch: mixup (Zhang et al. 2018)
 * or CutMix (Yun et al. 2019), like timm's {@code Mixup}. The middle image of an odd number does
 * not change.
 *
 * @param mixupAlpha parameter of the beta distribution of mixup's fraction; 0 for no mixup
 * @param cutmixAlpha parameter of the beta distribution of CutMix's area; 0 for no CutMix
 * @param prob probability of mixing
 * @param switchProb probability of CutMix if both alphas are above 0
 * @param perPair whether each pair of images has its own random numbers; otherwise all share them
 */
@Component("mixup_cutmix")
public record MixupCutmix(
        @Default("0.8") double mixupAlpha,
        @Default("1") double cutmixAlpha,
        @Default("1") double prob,
        @Default("0.5") double switchProb,
        @Default("false") boolean perPair)
        implements BatchAugment {

    /**
     * How images are mixed.
     *
     * @param fraction fraction of an image that is kept
     * @param cutmix whether a rectangle is replaced; otherwise pixels are averaged
     * @param centerY center of the rectangle relative to the image, in [0, 1)
     */
    public record Mix(double fraction, boolean cutmix, double centerY, double centerX) {

        static final Mix NONE = new Mix(1, false, 0, 0);

        private Patch patch(Size image) {
            double ratio = Math.sqrt(1 - fraction);
            int y = (int) (centerY * image.height());
            int x = (int) (centerX * image.width());
            int height = (int) (image.height() * ratio) / 2;
            int width = (int) (image.width() * ratio) / 2;
            return new Patch(
                    Math.max(0, y - height),
                    Math.min(image.height(), y + height),
                    Math.max(0, x - width),
                    Math.min(image.width(), x + width));
        }
    }

    /** A rectangle in pixels; ends are exclusive. */
    private record Patch(int top, int bottom, int left, int right) {

        double area() {
            return (double) (bottom - top) * (right - left);
        }
    }

    public MixupCutmix {
        new Checks()
                .inRange("mixup_alpha", mixupAlpha, 0, 1000)
                .inRange("cutmix_alpha", cutmixAlpha, 0, 1000)
                .inRange("prob", prob, 0, 1)
                .inRange("switch_prob", switchProb, 0, 1)
                .throwIfAny();
        Checks.require(
                mixupAlpha > 0 || cutmixAlpha > 0,
                "mixup_alpha",
                mixupAlpha,
                "above 0, or cutmix_alpha above 0");
    }

    @Override
    public void apply(Images batch, SplittableRandom random) {
        if (batch.targets().stream().anyMatch(target -> target.label() != target.other())) {
            throw SaccadeException.user(
                    "mixup_cutmix: the images are mixed already; list only one step that mixes"
                            + " images in data.batch_augments");
        }
        Mix shared = sample(random);
        for (int i = 0; i < batch.count() / 2; i++) {
            mix(batch, i, batch.count() - 1 - i, perPair ? sample(random) : shared);
        }
    }

    private Mix sample(SplittableRandom random) {
        boolean cutmix = mixupAlpha == 0 || (cutmixAlpha > 0 && random.nextDouble() < switchProb);
        double fraction = BetaDistribution.sample(cutmix ? cutmixAlpha : mixupAlpha, random);
        Mix mix = new Mix(fraction, cutmix, random.nextDouble(), random.nextDouble());
        return random.nextDouble() < prob ? mix : Mix.NONE;
    }

    /** Mixes two images of a batch with each other, and their targets. */
    public static void mix(Images batch, int first, int second, Mix mix) {
        double fraction = mix.fraction;
        if (fraction == 1) {
            return;
        }
        if (mix.cutmix) {
            Patch patch = mix.patch(batch.size());
            swap(batch, first, second, patch);
            fraction = 1 - patch.area() / batch.size().area();
        } else {
            average(batch, first, second, (float) fraction, (float) (1 - fraction));
        }
        ClassTarget one = batch.targets().get(first);
        ClassTarget other = batch.targets().get(second);
        batch.targets().set(first, one.mix(other, fraction));
        batch.targets().set(second, other.mix(one, fraction));
    }

    private static void average(Images batch, int first, int second, float own, float rest) {
        FloatBuffer pixels = batch.pixels();
        int a = batch.start(first, 0);
        int b = batch.start(second, 0);
        for (int end = batch.start(first + 1, 0); a < end; a++, b++) {
            float one = pixels.get(a);
            float other = pixels.get(b);
            pixels.put(a, one * own + other * rest);
            pixels.put(b, other * own + one * rest);
        }
    }

    private static void swap(Images batch, int first, int second, Patch patch) {
        FloatBuffer pixels = batch.pixels();
        for (int channel = 0; channel < batch.channels(); channel++) {
            for (int y = patch.top; y < patch.bottom; y++) {
                int a = batch.start(first, channel) + y * batch.size().width();
                int b = batch.start(second, channel) + y * batch.size().width();
                for (int x = patch.left; x < patch.right; x++) {
                    float one = pixels.get(a + x);
                    pixels.put(a + x, pixels.get(b + x));
                    pixels.put(b + x, one);
                }
            }
        }
    }
}
