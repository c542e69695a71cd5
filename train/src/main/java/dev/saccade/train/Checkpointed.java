package dev.saccade.train;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Parameter;

import com.google.common.collect.Maps;

import dev.saccade.core.nn.Module;
import dev.saccade.train.hooks.Hooks;
import dev.saccade.train.optimizers.ModelEma;
import dev.saccade.train.optimizers.Optimizer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a checkpoint of a run holds besides how far it is.
 *
 * @param model whose parameters are learned
 * @param optimizer has a state for each
 * @param ema averages of the weights, which every file has under the names of the weights
 * @param hooks what they keep is saved, too
 */
public record Checkpointed(Module model, Optimizer optimizer, Optional<ModelEma> ema, Hooks hooks) {

    /** Returns the averages that are measured in the place of weights. */
    Map<String, NDArray> averages() {
        return ema.map(ModelEma::averages).orElse(Map.of());
    }

    /** Returns the weights in whose place there are averages. */
    Map<String, NDArray> trained() {
        return ema.map(ModelEma::weights).orElse(Map.of());
    }

    /** Returns all arrays, in an order that is the same on all ranks. */
    List<NDArray> arrays() {
        List<NDArray> all =
                new ArrayList<>(
                        Maps.transformValues(model.namedParameters(), Parameter::getArray)
                                .values());
        all.addAll(averages().values());
        all.addAll(optimizer.state().values());
        return all;
    }
}
