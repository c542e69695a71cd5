package dev.saccade.train.optimizers;

import static java.util.Comparator.comparing;
import static java.util.Comparator.naturalOrder;

import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.nn.Module;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Parameters with the same factor of the run's learning rate and the same weight decay. */
public record ParameterGroup(
        double learningRateFactor, double weightDecay, Map<String, Parameter> parameters) {

    private static final Comparator<String> LONGEST_FIRST =
            comparing((String text) -> -text.length()).thenComparing(naturalOrder());

    private record Key(double learningRateFactor, double weightDecay) {}

    public ParameterGroup {
        parameters = ImmutableMap.copyOf(parameters);
    }

    /**
     * Groups the trainable parameters of a module, like mmengine's {@code paramwise_cfg}.
     *
     * <p>Each parameter has one rule: of all {@link ParamwiseConfig#rules} whose key is part of its
     * dotted name, the one with the longest key (the first alphabetically for equal lengths);
     * otherwise, the rule for norms or biases. Norm layers are detected by a one-dimensional {@code
     * weight}. Without a rule for norms, their biases use the weight decay of biases, but the full
     * learning rate. Layer decay is applied in addition.
     */
    public static List<ParameterGroup> split(Module module, Optimizer.Config config) {
        ParamwiseConfig paramwise = config.paramwise();
        Map<Parameter, Double> factors =
                paramwise.layerDecay().map(decay -> decay.factors(module)).orElse(Map.of());
        List<String> keys = paramwise.rules().keySet().stream().sorted(LONGEST_FIRST).toList();
        Map<String, Parameter> all = module.namedParameters();
        Map<Key, Map<String, Parameter>> groups = new LinkedHashMap<>();
        for (Map.Entry<String, Parameter> entry : Gradients.trainable(module).entrySet()) {
            String name = entry.getKey();
            ParameterRule rule =
                    keys.stream()
                            .filter(name::contains)
                            .findFirst()
                            .map(paramwise.rules()::get)
                            .orElseGet(() -> ofKind(name, all, paramwise));
            double layer = factors.getOrDefault(entry.getValue(), 1.0);
            Key group =
                    new Key(
                            rule.learningRateFactor() * layer,
                            rule.weightDecayFactor() * config.weightDecay());
            groups.computeIfAbsent(group, g -> new LinkedHashMap<>()).put(name, entry.getValue());
        }
        return groups.entrySet().stream()
                .map(
                        e ->
                                new ParameterGroup(
                                        e.getKey().learningRateFactor(),
                                        e.getKey().weightDecay(),
                                        e.getValue()))
                .toList();
    }

    private static ParameterRule ofKind(
            String name, Map<String, Parameter> all, ParamwiseConfig config) {
        String module = name.substring(0, name.lastIndexOf('.') + 1);
        ParameterRule rule = name.equals(module + "bias") ? config.biases() : ParameterRule.NONE;
        Parameter weight = all.get(module + "weight");
        boolean isNorm = weight != null && weight.getShape().dimension() == 1;
        return isNorm
                ? config.norms().orElse(new ParameterRule(1, rule.weightDecayFactor()))
                : rule;
    }
}
