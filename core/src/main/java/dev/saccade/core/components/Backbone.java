package dev.saccade.core.components;

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
 * Computes a feature pyramid from images.
 *
 * <p>In inference mode, the features of an image must not depend on other images of the batch. In
 * training mode, only stochastic depth and batch normalization may behave differently. Every
 * trainable parameter must contribute to the pyramid.
 */
public abstract class Backbone extends Module implements Function<NDArray, FeaturePyramid> {

    /** Settings and factory of a backbone: a record that a {@link ComponentProvider} lists. */
    public interface Config extends ModelComponentConfig {

        /** Creates a backbone without weights. */
        Backbone build();
    }

    /** Returns the features of a batch and frees all other arrays that {@link #forward} created. */
    @Override
    public final FeaturePyramid apply(NDArray images) {
        return Scope.call(() -> forward(images), FeaturePyramid::levels, List.of(images));
    }

    /**
     * Computes the features of a batch. Intermediate arrays are freed automatically.
     *
     * @param images {@code [N, 3, H, W]} normalized RGB; any height and width of at least the
     *     coarsest stride
     * @return a level {@code [N, C, h, w]} for each entry of {@link #features()}; {@code h} is
     *     {@code H / stride} and {@code w} is {@code W / stride}, rounded up or down; a class token
     *     is {@code [N, C, 1, 1]}
     */
    protected abstract FeaturePyramid forward(NDArray images);

    /** Returns channels and stride of every level, from fine to coarse. */
    public abstract List<FeatureInfo> features();

    /**
     * Returns the layer index of each parameter by dotted name, for layer-wise learning rates. The
     * stem is 0, followed by 1, 2, ... Parameters after the last layer, such as output
     * normalizations, are omitted. By default, all parameters are in layer 0.
     */
    public Map<String, Integer> layers() {
        return Maps.toMap(namedParameters().keySet(), name -> 0);
    }

    /** Returns the layer index of each parameter; {@code modules} has one list per layer. */
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

    @Override
    public final NDList call(NDList inputs) {
        return new NDList(apply(inputs.singletonOrThrow()).levels());
    }
}
