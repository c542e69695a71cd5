package dev.saccade.core.components;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.nn.Module;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.Losses;

import java.util.List;

/** Computes the class scores of an image from a feature pyramid. */
public abstract class ClassificationHead extends Module {

    /** Settings and factory of a head: a record that a {@link ComponentProvider} lists. */
    public interface Config extends HeadConfig {

        /** Creates a head without weights for these input levels. */
        ClassificationHead build(List<FeatureInfo> features, int numClasses);

        /** Returns the function from logits to probabilities. */
        ClassActivation activation();

        @Override
        default TargetKind targets() {
            return TargetKind.CLASSES;
        }
    }

    /** Returns {@code [N, K]} logits. */
    public abstract NDArray logits(FeaturePyramid features);

    /**
     * Returns the training losses of a batch.
     *
     * @param targets {@code [N, K]} float32 class distribution of each image, each row with sum 1
     */
    public abstract Losses losses(FeaturePyramid features, NDArray targets);

    @Override
    public final NDList call(NDList inputs) {
        return new NDList(logits(new FeaturePyramid(inputs)));
    }
}
