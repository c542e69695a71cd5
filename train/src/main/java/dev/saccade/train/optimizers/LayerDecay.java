package dev.saccade.train.optimizers;

import ai.djl.nn.Block;
import ai.djl.nn.Parameter;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.nn.Module;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Layer-wise learning rate decay for fine-tuning (BEiT, SimMIM). Neck and head use the full rate.
 * In the backbone, each layer uses {@code rate} (0 &lt; rate &lt;= 1) times the learning rate of
 * the layer after it, down to the stem.
 */
public record LayerDecay(double rate) {

    public LayerDecay {
        new Checks().above("rate", rate, 0, 1).throwIfAny();
    }

    /**
     * Returns the learning rate factors of backbone parameters. Fails if no backbone has layers.
     */
    Map<Parameter, Double> factors(Module module) {
        Map<Parameter, Double> factors = new HashMap<>();
        for (Backbone backbone : backbones(module).toList()) {
            Map<String, Integer> layers = backbone.layers();
            Map<String, Parameter> parameters = backbone.namedParameters();
            int end = layers.values().stream().reduce(-1, Math::max) + 1;
            layers.forEach(
                    (name, layer) ->
                            factors.put(parameters.get(name), Math.pow(rate, end - layer)));
        }
        if (factors.isEmpty()) {
            throw SaccadeException.user(
                    "optimizer.layer_decay: the model has no backbone with layers");
        }
        return factors;
    }

    private static Stream<Backbone> backbones(Block block) {
        return block instanceof Backbone backbone
                ? Stream.of(backbone)
                : block.getChildren().values().stream().flatMap(LayerDecay::backbones);
    }
}
