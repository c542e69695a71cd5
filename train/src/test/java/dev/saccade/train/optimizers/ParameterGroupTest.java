package dev.saccade.train.optimizers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import dev.saccade.config.Configs;
import dev.saccade.core.nn.BatchNorm2d;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;

import org.junit.jupiter.api.Test;

import java.util.Locale;
import java.util.stream.Collectors;

class ParameterGroupTest {

    private static final class Net extends Layer {

        private final Conv2d stem;

        Net(boolean frozenStem) {
            stem = add("stem", new Conv2d(new Geometry(3, 4, 3).padding(1), WeightInit.ONES));
            add("norm1", new BatchNorm2d(4));
            add("head.normalizer", new Conv2d(new Geometry(4, 4, 1), WeightInit.ONES));
            if (frozenStem) {
                stem.freeze();
            }
        }

        @Override
        protected NDArray forward(NDArray x) {
            return stem.apply(x);
        }
    }

    private static Sgd.Config config(String... settings) {
        return Configs.with(Configs.of(Sgd.Config.class, "weight_decay=0.1"), settings);
    }

    private static String groups(boolean frozen, Optimizer.Config config) {
        try (NDManager manager = NDManager.newBaseManager()) {
            Net net = new Net(frozen);
            net.initialize(manager, 0);
            return ParameterGroup.split(net, config).stream()
                    .map(
                            g ->
                                    String.format(
                                            Locale.ROOT,
                                            "%s %s %s",
                                            g.learningRateFactor(),
                                            g.weightDecay(),
                                            String.join(" ", g.parameters().keySet())))
                    .collect(Collectors.joining("; "));
        }
    }

    @Test
    void isOneGroupWithoutRules() {
        assertEquals(
                "1.0 0.1 stem.weight stem.bias norm1.weight norm1.bias"
                        + " head.normalizer.weight head.normalizer.bias",
                groups(false, config()));
        assertEquals(
                "1.0 0.1 norm1.weight norm1.bias head.normalizer.weight head.normalizer.bias",
                groups(true, config()));
    }

    @Test
    void detectsNormalizationsByShape() {
        assertEquals(
                "1.0 0.1 stem.weight stem.bias head.normalizer.weight head.normalizer.bias;"
                        + " 1.0 0.0 norm1.weight norm1.bias",
                groups(false, config("norms={weight_decay_factor: 0}")));
    }

    @Test
    void normBiasesUseTheBiasDecayWithoutANormRule() {
        String biases = "biases={learning_rate_factor: 2, weight_decay_factor: 0}";
        assertEquals(
                "1.0 0.1 stem.weight norm1.weight head.normalizer.weight;"
                        + " 2.0 0.0 stem.bias head.normalizer.bias;"
                        + " 1.0 0.0 norm1.bias",
                groups(false, config(biases)));
        assertEquals(
                "1.0 0.1 stem.weight norm1.weight norm1.bias head.normalizer.weight;"
                        + " 2.0 0.0 stem.bias head.normalizer.bias",
                groups(false, config("norms={}", biases)));
    }

    @Test
    void namedRulesTakePrecedence() {
        assertEquals(
                "1.0 0.1 stem.weight head.normalizer.weight;"
                        + " 2.0 0.0 stem.bias;"
                        + " 0.5 0.1 norm1.weight norm1.bias head.normalizer.bias",
                groups(
                        false,
                        config(
                                "norms={weight_decay_factor: 0}",
                                "biases={learning_rate_factor: 2, weight_decay_factor: 0}",
                                "rules={norm1: {learning_rate_factor: 0.5}, normalizer.bias:"
                                        + " {learning_rate_factor: 0.5}}")));
    }

    @Test
    void usesTheLongestMatchingRule() {
        assertEquals(
                "0.5 0.1 stem.weight stem.bias;"
                        + " 1.0 0.0 norm1.weight norm1.bias head.normalizer.bias;"
                        + " 2.0 0.1 head.normalizer.weight",
                groups(
                        false,
                        config(
                                "rules={norm: {weight_decay_factor: 0}, stem:"
                                        + " {learning_rate_factor: 0.5}, normalizer.weight:"
                                        + " {learning_rate_factor: 2}}")));
    }

    @Test
    void usesTheFirstRuleAlphabetically() {
        assertEquals(
                "3.0 0.1 stem.weight norm1.weight head.normalizer.weight;"
                        + " 1.0 0.1 stem.bias norm1.bias head.normalizer.bias",
                groups(
                        false,
                        config(
                                "rules={weight: {weight_decay_factor: 0}, .weigh:"
                                        + " {learning_rate_factor: 3}}")));
    }
}
