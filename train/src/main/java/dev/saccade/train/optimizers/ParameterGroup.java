package dev.saccade.train.optimizers;

import static java.util.Comparator.comparing;

import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.nn.Module;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Parameters that share a learning rate and a weight decay.
 *
 * @param learningRateFactor what the learning rate of the run is multiplied by
 * @param weightDecay the weight decay
 * @param parameters the parameters by dotted names
 */
public record ParameterGroup(
        double learningRateFactor, double weightDecay, Map<String, Parameter> parameters) {

    private static final Comparator<ParameterRule> LONGEST_FIRST =
            comparing((ParameterRule rule) -> -rule.match().length())
                    .thenComparing(ParameterRule::match);

    private record Key(double learningRateFactor, double weightDecay) {

        static Key of(ParameterRule rule, double weightDecay) {
            return new Key(rule.learningRateFactor(), rule.weightDecayFactor() * weightDecay);
        }
    }

    /** Keeps a copy of the map. */
    public ParameterGroup {
        parameters = ImmutableMap.copyOf(parameters);
    }

    /**
     * Sorts the learned parameters of a module into groups.
     *
     * <p>A rule that matches a parameter decides alone. Else {@code normDecay} tells whether the
     * parameters of normalisations decay; those are the ones beside a {@code weight} of one
     * dimension.
     */
    public static List<ParameterGroup> of(
            Module module, double weightDecay, boolean normDecay, List<ParameterRule> rules) {
        List<ParameterRule> sorted = rules.stream().sorted(LONGEST_FIRST).toList();
        Map<String, Parameter> all = module.namedParameters();
        Map<Key, Map<String, Parameter>> groups = new LinkedHashMap<>();
        Gradients.learned(module)
                .forEach(
                        (name, parameter) -> {
                            double decay = normDecay || !isNorm(name, all) ? weightDecay : 0;
                            Key key =
                                    sorted.stream()
                                            .filter(rule -> name.contains(rule.match()))
                                            .map(rule -> Key.of(rule, weightDecay))
                                            .findFirst()
                                            .orElse(new Key(1, decay));
                            groups.computeIfAbsent(key, k -> new LinkedHashMap<>())
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
