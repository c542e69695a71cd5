package dev.saccade.datasets;

import dev.saccade.core.parts.PartConfig;

import java.util.SplittableRandom;

/**
 * One step between a decoded photograph and a batch; the record that YAML configures is the step.
 *
 * <p>Immutable and safe for use by many threads. To bring a step of one's own, write a record that
 * implements this and name it in {@code META-INF/services/dev.saccade.datasets.Transform}.
 */
public interface Transform extends PartConfig {

    /**
     * Returns the changed sample and uses up the one given: its image is freed unless the result
     * still holds it.
     *
     * @param sample what the step before returned
     * @param random the only source of draws, a function of seed, epoch and image
     */
    Sample apply(Sample sample, SplittableRandom random);
}
