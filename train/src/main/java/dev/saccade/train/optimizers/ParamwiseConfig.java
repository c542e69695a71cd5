package dev.saccade.train.optimizers;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.components.Default;

import java.util.Map;
import java.util.Optional;

/**
 * Learning rates and weight decays of some parameters, like mmengine's {@code paramwise_cfg}.
 *
 * @param norms rule for normalization layers; without it, their biases use the weight decay factor
 *     of {@code biases}
 * @param biases rule for biases; its learning rate does not apply to normalization layers
 * @param rules by part of the dotted name, such as {@code pos_embed}; they take precedence
 * @param layerDecay layer-wise decay of the backbone's learning rates; off by default
 */
public record ParamwiseConfig(
        Optional<ParameterRule> norms,
        ParameterRule biases,
        @Default("{}") Map<String, ParameterRule> rules,
        Optional<LayerDecay> layerDecay) {

    static final ParamwiseConfig NONE =
            new ParamwiseConfig(Optional.empty(), ParameterRule.NONE, Map.of(), Optional.empty());

    public ParamwiseConfig {
        rules = ImmutableMap.copyOf(rules);
    }
}
