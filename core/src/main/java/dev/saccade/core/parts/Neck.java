package dev.saccade.core.parts;

import ai.djl.ndarray.NDList;

import dev.saccade.core.nn.Module;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.List;

/** Turns a pyramid into another one, mixing its levels. */
public abstract class Neck extends Module {

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

    /** Returns the levels of {@link #features()} from those the neck was built for. */
    public abstract FeaturePyramid forward(FeaturePyramid features);

    /** Returns channels and stride of every level that comes out, from fine to coarse. */
    public abstract List<FeatureInfo> features();

    @Override
    public final NDList call(NDList inputs) {
        return new NDList(forward(new FeaturePyramid(inputs)).levels());
    }
}
