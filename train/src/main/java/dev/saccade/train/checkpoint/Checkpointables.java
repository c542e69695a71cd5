package dev.saccade.train.checkpoint;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Parameter;

import dev.saccade.core.nn.Module;
import dev.saccade.train.hooks.Hooks;
import dev.saccade.train.optimizers.ModelEma;
import dev.saccade.train.optimizers.Optimizer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Objects whose state is in the checkpoints of a run, in addition to its {@link RunState}. */
public record Checkpointables(
        Module model, Optimizer optimizer, Optional<ModelEma> ema, Hooks hooks) {

    public Map<String, NDArray> averages() {
        return ema.map(ModelEma::averages).orElse(Map.of());
    }

    /** Returns the trained weights that have {@link #averages}, by the same names. */
    public Map<String, NDArray> trained() {
        return ema.map(ModelEma::weights).orElse(Map.of());
    }

    /** Returns the arrays of model, EMA and optimizer, in the same order on all ranks. */
    public List<NDArray> arrays() {
        List<NDArray> all = new ArrayList<>();
        model.namedParameters().values().stream().map(Parameter::getArray).forEach(all::add);
        all.addAll(averages().values());
        all.addAll(optimizer.state().values());
        return all;
    }
}
