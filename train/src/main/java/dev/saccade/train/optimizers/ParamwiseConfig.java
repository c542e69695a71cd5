package dev.saccade.train.optimizers;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.parts.Default;

import java.util.Map;
import java.util.Optional;

/**
 * Learning rates and weight decays of some parameters, as mmengine's {@code paramwise_cfg}.
 *
 * @param norms the rule for the parameters of normalizations; by default they learn as weights do
 *     and decay as biases do
 * @param biases the rule for biases; its learning rate does not apply to those of normalizations
 * @param rules rules by a part of the dotted name, such as {@code pos_embed}; they take precedence
 * @param layerDecay layer-wise decay of the learning rates of the backbone; off by default
 */
public record ParamwiseConfig(
        Optional<ParameterRule> norms,
        ParameterRule biases,
        @Default("{}") Map<String, ParameterRule> rules,
        Optional<LayerDecay> layerDecay) {

    /** All parameters learn and decay alike. */
    static final ParamwiseConfig NONE =
            new ParamwiseConfig(Optional.empty(), ParameterRule.NONE, Map.of(), Optional.empty());

    /** Copies the map. */
    public ParamwiseConfig {
        rules = ImmutableMap.copyOf(rules);
    }
}
