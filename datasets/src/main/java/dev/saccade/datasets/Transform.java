package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.PixelFormat;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * A step from the decoded image to a batch, implemented by a record that is configured in YAML.
 *
 * <p>Immutable and thread-safe.
 *
 * <p>For a custom transform, implement this with a record and list the record in a {@link
 * dev.saccade.core.components.ComponentProvider}.
 */
public interface Transform extends ComponentConfig {

    /** Default transforms for prediction. */
    String FOR_PREDICTION = "[{type: resize}, {type: normalize}, {type: pad}]";

    /**
     * Applies the transform. Consumes the given sample: its image is freed unless the result still
     * uses it. Never writes to its pixels, which other samples of the image may share.
     *
     * @param random the only source of randomness, seeded by seed, epoch and image
     */
    Sample apply(Sample sample, SplittableRandom random);

    /** Applies the transform; {@code others} returns samples after the preceding transforms. */
    default Sample apply(Sample sample, SamplePool others, SplittableRandom random) {
        return apply(sample, random);
    }

    /** Returns whether this step uses other samples or may reject a sample; only for training. */
    default boolean needsOtherSamples() {
        return false;
    }

    /** Returns whether this step must be at the end, like {@code normalize} and {@code pad}. */
    default boolean mustBeLast() {
        return false;
    }

    /** Returns whether this step must be the first of training, as it sets a {@link #reduction}. */
    default boolean mustBeFirst() {
        return false;
    }

    /**
     * Returns the factor, 1, 2, 4 or 8, by which a JPEG is reduced when it is decoded for this
     * step. Other formats are not reduced.
     *
     * @param random returns the same values as in {@link #apply}
     */
    default int reduction(Size image, SplittableRandom random) {
        return 1;
    }

    /** Returns why this step does not support the targets; empty (the default) if it does. */
    default Optional<String> incompatibility(TargetKind targets) {
        return Optional.empty();
    }

    /** Returns why this step does not support the images; empty (the default) if it does. */
    default Optional<String> incompatibility(PixelFormat pixels) {
        return Optional.empty();
    }

    /** Returns why a color transform does not support images that are not RGB. */
    static Optional<String> requireRgb(String type, PixelFormat pixels) {
        return pixels.channels() == 3
                ? Optional.empty()
                : Optional.of(
                        type
                                + " changes RGB colors, but the images have "
                                + pixels.describe()
                                + "; remove it");
    }

    /** Returns why a step on bytes does not support other images. */
    static Optional<String> requireRgb8(String type, PixelFormat pixels) {
        return pixels.isRgb8()
                ? Optional.empty()
                : Optional.of(
                        type
                                + " supports only 8-bit RGB, but the images have "
                                + pixels.describe()
                                + "; remove it");
    }

    /** Returns size and scale of an image after this step; the largest scale if random. */
    default ImageScale scale(ImageScale image) {
        return image;
    }

    /** Returns this step with a default size, or unchanged if its size is set. */
    default Transform withDefaultSize(InputSize size) {
        return this;
    }

    /**
     * Applies several steps to a sample; consumes the sample, even on failure.
     *
     * @throws SaccadeException of kind user that names the step, if the result of a step is
     *     inconsistent or the step needs other samples
     */
    static Sample applyAll(List<Transform> steps, Sample sample, SplittableRandom random) {
        return applyAll(steps, sample, SamplePool.NONE, random);
    }

    /** Applies several steps until one {@linkplain Sample#rejected rejects} the sample. */
    static Sample applyAll(
            List<Transform> steps, Sample sample, SamplePool others, SplittableRandom random) {
        Sample changed = sample;
        try {
            for (int i = 0; i < steps.size() && !changed.rejected(); i++) {
                Transform step = steps.get(i);
                boolean hasOthers = others != SamplePool.NONE || !step.needsOtherSamples();
                require(
                        hasOthers,
                        step,
                        "needs other images of the data set; use it in training" + " only");
                Sample result = step.apply(changed, others.after(steps.subList(0, i)), random);
                require(result != null, step, "returned null; expected a sample");
                changed = result;
                changed.mismatch().ifPresent(problem -> require(false, step, problem));
            }
            return changed;
        } catch (RuntimeException e) {
            changed.close();
            throw e;
        }
    }

    private static void require(boolean fits, Transform step, String problem) {
        if (!fits) {
            throw SaccadeException.user("transform %s: %s", step.type(), problem);
        }
    }
}
