package dev.saccade.core.parts;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.nn.Module;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.List;

/** Turns images into a pyramid of features. */
public abstract class Backbone extends Module {

    /** The hyper-parameters of a backbone, and what builds it. */
    public interface Config extends PartConfig {

        /** Returns a backbone without weights. */
        Backbone build();
    }

    /**
     * Returns the features of a batch.
     *
     * @param images {@code [N, 3, H, W]} normalised RGB of any height and width
     * @return one level for each entry of {@link #features()}
     */
    public abstract FeaturePyramid forward(NDArray images);

    /** Returns channels and stride of every level, from fine to coarse. */
    public abstract List<FeatureInfo> features();

    @Override
    public final NDList call(NDList inputs) {
        return new NDList(forward(inputs.singletonOrThrow()).levels());
    }
}
