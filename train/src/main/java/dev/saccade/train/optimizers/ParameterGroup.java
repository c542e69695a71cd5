package dev.saccade.train.optimizers;

import static java.util.Comparator.comparing;
import static java.util.Comparator.naturalOrder;

import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.nn.Module;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Parameters that share a learning rate and a weight decay.
 *
 * @param learningRateFactor what the learning rate of the run is multiplied by
 * @param weightDecay the weight decay
 * @param parameters the parameters by dotted names
 */
public record ParameterGroup(
        double learningRateFactor, double weightDecay, Map<String, Parameter> parameters) {

    private static final Comparator<String> LONGEST_FIRST =
            comparing((String text) -> -text.length()).thenComparing(naturalOrder());

    private record Key(double learningRateFactor, double weightDecay) {

        static Key of(ParameterRule rule, double weightDecay) {
            return new Key(rule.learningRateFactor(), rule.weightDecayFactor() * weightDecay);
        }

        Key slowedBy(double factor) {
            return new Key(learningRateFactor * factor, weightDecay);
        }
    }

    /** Keeps a copy of the map. */
    public ParameterGroup {
        parameters = ImmutableMap.copyOf(parameters);
    }

    /**
     * Sorts the learned parameters of a module into groups.
     *
     * @param weightDecay the weight decay of parameters without a rule
     * @param normDecay whether the parameters of normalisations decay too; those are the ones
     *     beside a {@code weight} of one dimension
     * @param rules exceptions for parameters whose dotted name contains the key; of several that
     *     match the longest counts alone, among equally long ones the first of the alphabet (the
     *     {@code custom_keys} of mmcv)
     * @param layerDecay multiplies the learning rates in the layers of the backbone besides
     */
    public static List<ParameterGroup> of(
            Module module,
            double weightDecay,
            boolean normDecay,
            Map<String, ParameterRule> rules,
            Optional<LayerDecay> layerDecay) {
        Map<Parameter, Double> factors =
                layerDecay.map(decay -> decay.factors(module)).orElse(Map.of());
        List<String> keys = rules.keySet().stream().sorted(LONGEST_FIRST).toList();
        Map<String, Parameter> all = module.namedParameters();
        Map<Key, Map<String, Parameter>> groups = new LinkedHashMap<>();
        Gradients.learned(module)
                .forEach(
                        (name, parameter) -> {
                            double decay = normDecay || !isNorm(name, all) ? weightDecay : 0;
                            Key group =
                                    keys.stream()
                                            .filter(name::contains)
                                            .map(key -> Key.of(rules.get(key), weightDecay))
                                            .findFirst()
                                            .orElse(new Key(1, decay))
                                            .slowedBy(factors.getOrDefault(parameter, 1.0));
                            groups.computeIfAbsent(group, g -> new LinkedHashMap<>())
                                    .put(name, parameter);
                        });
        List<ParameterGroup> result = new ArrayList<>();
        groups.forEach(
                (key, members) ->
                        result.add(
                                new ParameterGroup(
                                        key.learningRateFactor(), key.weightDecay(), members)));
        return List.copyOf(result);
    }

    private static boolean isNorm(String name, Map<String, Parameter> all) {
        Parameter weight = all.get(name.substring(0, name.lastIndexOf('.') + 1) + "weight");
        return weight != null && weight.getShape().dimension() == 1;
    }
}
