package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.TargetKind;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * One step between a decoded photograph and a batch; the record that YAML configures is the step.
 *
 * <p>Immutable and safe for use by many threads.
 *
 * <p>To bring one of your own, implement this with a record and list the record in a {@link
 * dev.saccade.core.parts.PartProvider}.
 */
public interface Transform extends PartConfig {

    /**
     * What a photograph goes through before objects are looked for, where a config says nothing.
     */
    String FOR_PREDICTION = "[{type: resize}, {type: normalize}, {type: pad}]";

    /**
     * Returns the changed sample and uses up the one given: its image is freed unless the result
     * still holds it. The pixels are not written to: other views of the photograph may share them.
     *
     * @param sample what the step before returned
     * @param random the only source of draws, a function of seed, epoch and image
     */
    Sample apply(Sample sample, SplittableRandom random);

    /**
     * Returns likewise the changed sample, made with other samples of the data set; without them by
     * default.
     *
     * @param others went through the same steps before this one, with draws of their own
     */
    default Sample apply(Sample sample, SamplePool others, SplittableRandom random) {
        return apply(sample, random);
    }

    /**
     * Returns whether it draws other samples, or {@linkplain Sample#reject rejects} some: then it
     * belongs among the transforms of a training, where there is a data set to draw from.
     */
    default boolean needsOtherSamples() {
        return false;
    }

    /**
     * Returns whether it only notes what is done when the sample is written, as {@code normalize}
     * and {@code pad} do: no other step may follow it.
     */
    default boolean mustBeLast() {
        return false;
    }

    /**
     * Returns why samples of some targets cannot go through it, if they cannot; nothing by default.
     *
     * @param targets what the model learns from
     */
    default Optional<String> incompatibility(TargetKind targets) {
        return Optional.empty();
    }

    /**
     * Returns how this step changes size and scale of an image, the largest scale if it is random;
     * unchanged by default.
     */
    default ImageScale scale(ImageScale image) {
        return image;
    }

    /** Returns this step at a size, if it states none of its own; the same step by default. */
    default Transform withDefaultSize(InputSize size) {
        return this;
    }

    /**
     * Returns a sample after several steps, one after the other, and uses up the one given, also if
     * one fails.
     *
     * @throws SaccadeException of kind user that names the step, if what one gives does not fit
     *     together, or if one needs other samples
     */
    static Sample applyAll(List<Transform> steps, Sample sample, SplittableRandom random) {
        return applyAll(steps, sample, SamplePool.NONE, random);
    }

    /**
     * Returns likewise a sample after several steps, which may need others; a sample that a step
     * {@linkplain Sample#rejected rejects} goes no further.
     *
     * @param others went through what came before the first of the steps
     */
    static Sample applyAll(
            List<Transform> steps, Sample sample, SamplePool others, SplittableRandom random) {
        Sample changed = sample;
        try {
            for (int i = 0; i < steps.size() && !changed.rejected(); i++) {
                Transform step = steps.get(i);
                boolean hasOthers = others != SamplePool.NONE || !step.needsOtherSamples();
                require(hasOthers, step, "needs other photographs, expected in training only");
                Sample result = step.apply(changed, others.after(steps.subList(0, i)), random);
                require(result != null, step, "gave nothing, expected a sample");
                changed = result;
                changed.mismatch().ifPresent(told -> require(false, step, told));
            }
            return changed;
        } catch (RuntimeException e) {
            changed.close();
            throw e;
        }
    }

    private static void require(boolean fits, Transform step, String told) {
        if (!fits) {
            throw SaccadeException.user("transform %s: %s", step.type(), told);
        }
    }
}
