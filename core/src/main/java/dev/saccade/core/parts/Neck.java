package dev.saccade.core.parts;

import ai.djl.ndarray.NDList;

import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.List;
import java.util.function.UnaryOperator;

/** Turns a pyramid into another one, mixing its levels. */
public abstract class Neck extends Module implements UnaryOperator<FeaturePyramid> {

    /**
     * The hyper-parameters of a neck, and what builds it.
     *
     * <p>To bring one of your own, implement this with a record and list the record in a {@link
     * PartProvider}.
     */
    public interface Config extends ModelPartConfig {

        /**
         * Returns a neck without weights.
         *
         * @param features the levels it will be given
         */
        Neck build(List<FeatureInfo> features);
    }

    /**
     * Returns the levels of {@link #features()} and frees every other array that {@link #forward}
     * created.
     *
     * @param features the levels the neck was built for
     */
    @Override
    public final FeaturePyramid apply(FeaturePyramid features) {
        return Scope.call(() -> forward(features), FeaturePyramid::levels, features.levels());
    }

    /** Computes the output levels. No intermediate array needs to be closed. */
    protected abstract FeaturePyramid forward(FeaturePyramid features);

    /** Returns channels and stride of every level that comes out, from fine to coarse. */
    public abstract List<FeatureInfo> features();

    @Override
    public final NDList call(NDList inputs) {
        return new NDList(apply(new FeaturePyramid(inputs)).levels());
    }
}
