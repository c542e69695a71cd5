package dev.saccade.core.parts;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.nn.Module;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.List;
import java.util.Map;

/** Turns images into a pyramid of features. */
public abstract class Backbone extends Module {

    /** The hyper-parameters of a backbone, and what builds it. */
    public interface Config extends PartConfig {

        /** Returns a backbone without weights. */
        Backbone build();

        @Override
        default Map<String, ? extends Config> variants() {
            return Map.of();
        }
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

    /**
     * Folds what inference can do without, such as parallel branches, into fewer operations;
     * outputs change by rounding alone. It lasts until the backbone is trained again; parameters
     * and their names stay.
     */
    public void fuse() {}

    @Override
    public final NDList call(NDList inputs) {
        return new NDList(forward(inputs.singletonOrThrow()).levels());
    }
}
