package dev.saccade.train.optimizers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.nn.BatchNorm2d;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;

import org.junit.jupiter.api.Test;

import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

class ParameterGroupTest {

    private static final class Net extends Layer {

        private final Conv2d stem;

        Net(boolean frozenStem) {
            stem = add("stem", new Conv2d(3, 4, 3, 1, 1, WeightInit.ONES));
            add("norm1", new BatchNorm2d(4));
            add("head.normalizer", new Conv2d(4, 4, 1, 1, 0, WeightInit.ONES));
            if (frozenStem) {
                stem.freeze();
            }
        }

        @Override
        public NDArray forward(NDArray x) {
            return stem.forward(x);
        }
    }

    private static Sgd.Config config(
            Optional<ParameterRule> norms, ParameterRule biases, Map<String, ParameterRule> rules) {
        return new Sgd.Config(1, 0, 0.1, norms, biases, rules, Optional.empty());
    }

    private static Sgd.Config config(Map<String, ParameterRule> rules) {
        return config(Optional.empty(), new ParameterRule(), rules);
    }

    private static String groups(boolean frozen, Optimizer.Config config) {
        try (NDManager manager = NDManager.newBaseManager()) {
            Net net = new Net(frozen);
            net.initialize(manager, 0);
            return ParameterGroup.of(net, config).stream()
                    .map(
                            g ->
                                    "%s %s %s"
                                            .formatted(
                                                    g.learningRateFactor(),
                                                    g.weightDecay(),
                                                    String.join(" ", g.parameters().keySet())))
                    .collect(Collectors.joining("; "));
        }
    }

    @Test
    void withoutRulesIsOneOfAllThatLearns() {
        assertEquals(
                "1.0 0.1 stem.weight stem.bias norm1.weight norm1.bias"
                        + " head.normalizer.weight head.normalizer.bias",
                groups(false, config(Map.of())));
        assertEquals(
                "1.0 0.1 norm1.weight norm1.bias head.normalizer.weight head.normalizer.bias",
                groups(true, config(Map.of())));
    }

    @Test
    void sparesNormalisationsByTheirShape() {
        assertEquals(
                "1.0 0.1 stem.weight stem.bias head.normalizer.weight head.normalizer.bias;"
                        + " 1.0 0.0 norm1.weight norm1.bias",
                groups(
                        false,
                        config(
                                Optional.of(new ParameterRule(1, 0)),
                                new ParameterRule(),
                                Map.of())));
    }

    @Test
    void aBiasOfANormalisationDecaysAsABiasUnlessNormalisationsHaveTheirRule() {
        ParameterRule biases = new ParameterRule(2, 0);
        assertEquals(
                "1.0 0.1 stem.weight norm1.weight head.normalizer.weight;"
                        + " 2.0 0.0 stem.bias head.normalizer.bias;"
                        + " 1.0 0.0 norm1.bias",
                groups(false, config(Optional.empty(), biases, Map.of())));
        assertEquals(
                "1.0 0.1 stem.weight norm1.weight norm1.bias head.normalizer.weight;"
                        + " 2.0 0.0 stem.bias head.normalizer.bias",
                groups(false, config(Optional.of(new ParameterRule()), biases, Map.of())));
    }

    @Test
    void aRuleByNameWinsOverThatOfTheKind() {
        assertEquals(
                "1.0 0.1 stem.weight head.normalizer.weight;"
                        + " 2.0 0.0 stem.bias;"
                        + " 0.5 0.1 norm1.weight norm1.bias head.normalizer.bias",
                groups(
                        false,
                        config(
                                Optional.of(new ParameterRule(1, 0)),
                                new ParameterRule(2, 0),
                                Map.of(
                                        "norm1",
                                        new ParameterRule(0.5, 1),
                                        "normalizer.bias",
                                        new ParameterRule(0.5, 1)))));
    }

    @Test
    void obeysTheLongestRuleThatMatches() {
        assertEquals(
                "0.5 0.1 stem.weight stem.bias;"
                        + " 1.0 0.0 norm1.weight norm1.bias head.normalizer.bias;"
                        + " 2.0 0.1 head.normalizer.weight",
                groups(
                        false,
                        config(
                                Map.of(
                                        "norm",
                                        new ParameterRule(1, 0),
                                        "stem",
                                        new ParameterRule(0.5, 1),
                                        "normalizer.weight",
                                        new ParameterRule(2, 1)))));
    }

    @Test
    void obeysTheFirstOfTheAlphabetAmongEquallyLongRules() {
        assertEquals(
                "3.0 0.1 stem.weight norm1.weight head.normalizer.weight;"
                        + " 1.0 0.1 stem.bias norm1.bias head.normalizer.bias",
                groups(
                        false,
                        config(
                                Map.of(
                                        "weight",
                                        new ParameterRule(1, 0),
                                        ".weigh",
                                        new ParameterRule(3, 1)))));
    }
}
