package dev.saccade.core.components;

import ai.djl.ndarray.NDList;

import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.List;
import java.util.function.UnaryOperator;

/** Transforms a feature pyramid into another one. */
public abstract class Neck extends Module implements UnaryOperator<FeaturePyramid> {

    /** Settings and factory of a neck: a record that a {@link ComponentProvider} lists. */
    public interface Config extends ModelComponentConfig {

        /** Creates a neck without weights for these input levels. */
        Neck build(List<FeatureInfo> features);
    }

    /** Returns the output levels and frees all other arrays that {@link #forward} created. */
    @Override
    public final FeaturePyramid apply(FeaturePyramid features) {
        return Scope.call(() -> forward(features), FeaturePyramid::levels, features.levels());
    }

    /** Computes the output levels. Intermediate arrays are freed automatically. */
    protected abstract FeaturePyramid forward(FeaturePyramid features);

    /** Returns channels and stride of every output level, from fine to coarse. */
    public abstract List<FeatureInfo> features();

    @Override
    public final NDList call(NDList inputs) {
        return new NDList(apply(new FeaturePyramid(inputs)).levels());
    }
}
