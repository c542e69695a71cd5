package dev.saccade.train.optimizers;

import ai.djl.nn.Block;
import ai.djl.nn.Parameter;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Module;
import dev.saccade.core.parts.Backbone;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Learning rates that fall from the head to the images, for fine-tuning (BEiT, SimMIM): what stands
 * behind the last layer of a backbone learns at the full rate, that layer at {@code rate} times the
 * full one, the layer before at {@code rate} times that, and so on to the stem.
 *
 * @param rate in (0, 1]
 */
public record LayerDecay(double rate) {

    /** Checks the rate. */
    public LayerDecay {
        new Checks().above("rate", rate, 0, 1).throwIfAny();
    }

    /**
     * Returns what the learning rate of each parameter in a layer of a backbone is multiplied by.
     *
     * @throws SaccadeException of kind user, if the module has no backbone
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
