package dev.saccade.core.parts;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;

import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Turns images into a pyramid of features.
 *
 * <p>In inference, what comes of an image does not depend on the others of its batch. Training
 * differs from inference by stochastic depth alone and, where a family has them, by batch
 * normalizations that use the statistics of the batch. Every parameter that is not frozen learns
 * from the pyramid.
 */
public abstract class Backbone extends Module implements Function<NDArray, FeaturePyramid> {

    /**
     * The hyper-parameters of a backbone, and what builds it.
     *
     * <p>To bring one of your own, implement this with a record and list the record in a {@link
     * PartProvider}.
     */
    public interface Config extends ModelPartConfig {

        /** Returns a backbone without weights. */
        Backbone build();
    }

    /**
     * Returns the features of a batch and frees every other array that {@link #forward} created.
     */
    @Override
    public final FeaturePyramid apply(NDArray images) {
        return Scope.call(() -> forward(images), FeaturePyramid::levels, List.of(images));
    }

    /**
     * Computes the features of a batch. No intermediate array needs to be closed.
     *
     * @param images {@code [N, 3, H, W]} normalized RGB; any height and width of at least the
     *     coarsest stride
     * @return one level {@code [N, C, h, w]} for each entry of {@link #features()}; {@code h} is
     *     {@code H / stride}, {@code w} is {@code W / stride}, rounded up or down where the stride
     *     does not divide them, as the family has it
     */
    protected abstract FeaturePyramid forward(NDArray images);

    /** Returns channels and stride of every level, from fine to coarse. */
    public abstract List<FeatureInfo> features();

    /**
     * Returns in which layer each parameter lies, by dotted names: 0 for the stem, then 1, 2, ...
     * from the images on. Parameters that stand behind the last layer, such as normalizations of
     * the outputs, are left out. All is one layer, unless a family says more.
     */
    public Map<String, Integer> layers() {
        return Maps.toMap(namedParameters().keySet(), name -> 0);
    }

    /** Returns the layer of each parameter below the modules of layers, from the stem on. */
    protected final Map<String, Integer> layersOf(List<List<Module>> modules) {
        Map<Parameter, Integer> layerOf = new HashMap<>();
        for (int i = 0; i < modules.size(); i++) {
            for (Module module : modules.get(i)) {
                for (Parameter parameter : module.namedParameters().values()) {
                    layerOf.put(parameter, i);
                }
            }
        }
        Map<String, Parameter> inLayers =
                Maps.filterValues(namedParameters(), layerOf::containsKey);
        return ImmutableMap.copyOf(Maps.transformValues(inLayers, layerOf::get));
    }

    /**
     * Folds what inference can do without, such as parallel branches, into fewer operations;
     * outputs change by rounding alone. It lasts until the backbone is trained again; parameters
     * and their names stay.
     */
    public void fuse() {}

    @Override
    public final NDList call(NDList inputs) {
        return new NDList(apply(inputs.singletonOrThrow()).levels());
    }
}
