package dev.saccade.datasets;

import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.structures.ClassTarget;
import dev.saccade.core.structures.Size;

import java.nio.FloatBuffer;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A step on the normalized images of a training batch, such as mixup; for classifiers.
 *
 * <p>Immutable and thread-safe. For a custom step, implement this with a record and list the record
 * in a {@link dev.saccade.core.components.ComponentProvider}.
 */
public interface BatchAugment extends ComponentConfig {

    /**
     * Images and targets of a batch, changed in place.
     *
     * @param pixels {@code [N, C, H, W]}, normalized, RGB if three channels
     * @param channels C
     * @param size H and W
     * @param targets modifiable list of N targets
     */
    record Images(FloatBuffer pixels, int channels, Size size, List<ClassTarget> targets) {

        /** Creates a batch of RGB images. */
        public Images(FloatBuffer pixels, Size size, List<ClassTarget> targets) {
            this(pixels, 3, size, targets);
        }

        public int count() {
            return targets.size();
        }

        /** Returns the index of the first value of a channel of an image. */
        public int start(int image, int channel) {
            return Math.toIntExact(((long) channels * image + channel) * size.area());
        }
    }

    /**
     * Changes a batch.
     *
     * @param random the only source of randomness, seeded by seed, epoch and images
     */
    void apply(Images batch, SplittableRandom random);
}
