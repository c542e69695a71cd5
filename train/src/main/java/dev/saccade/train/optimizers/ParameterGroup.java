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

    private record Key(double learningRateFactor, double weightDecay) {}

    /** Keeps a copy of the map. */
    public ParameterGroup {
        parameters = ImmutableMap.copyOf(parameters);
    }

    /**
     * Sorts the learned parameters of a module into groups, as mmengine's {@code paramwise_cfg}
     * does.
     *
     * <p>For each parameter one rule counts: of {@link ParamwiseConfig#rules} whose key its dotted
     * name contains the longest, among equally long ones the first of the alphabet; else that of
     * its kind. Normalizations are told by a {@code weight} of one dimension. Where they have no
     * rule, their biases decay as other biases do, but learn as fast as weights. The decay over the
     * layers of the backbone multiplies the learning rates besides.
     *
     * @param config the learning rate, the weight decay and the rules
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
