package dev.saccade.parity;

import ai.djl.ndarray.NDArray;

import dev.saccade.config.Configs;
import dev.saccade.core.nn.Module;
import dev.saccade.train.optimizers.AdamW;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Lamb;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.train.optimizers.ParameterGroup;
import dev.saccade.train.optimizers.ParameterRule;
import dev.saccade.train.optimizers.Sgd;

import org.opentest4j.TestAbortedException;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Optimizer steps from recorded gradients, with parameter groups and clipping. */
final class OptimizerKind implements Kind {

    private static final Tolerance STATED = new Tolerance(1e-6, 0, 1e-5);
    private static final Tolerance FACTORS = Tolerance.absolute(1e-12);

    @Override
    public void run(Case recorded) {
        checkRecordedInTime(recorded);
        Module module = RecordedParameters.of(recorded);
        Optimizer.Config config = config(recorded.config());
        compareGroups(recorded, ParameterGroup.split(module, config));

        List<Double> learningRates = recorded.settings().numbers("lr_per_step");
        try (Optimizer optimizer = config.build(module)) {
            for (int step = 1; step <= learningRates.size(); step++) {
                Gradients gradients = gradients(recorded, module, step);
                float factor = clipping(recorded, gradients, step);
                optimizer.step(gradients, factor, learningRates.get(step - 1));
                for (String name : module.namedParameters().keySet()) {
                    NDArray value = module.namedParameters().get(name).getArray();
                    recorded.compare("param" + step + ":" + name, value, STATED);
                }
            }
        }
    }

    /** Skips a case that recorded the values after the last step for all steps. */
    private static void checkRecordedInTime(Case recorded) {
        boolean moves =
                recorded.names("grad1:").stream()
                        .map(grad -> grad.substring("grad1:".length()))
                        .anyMatch(
                                name ->
                                        !Arrays.equals(
                                                recorded.array("init:" + name).values(),
                                                recorded.array("param1:" + name).values()));
        if (!moves) {
            throw new TestAbortedException(
                    "init and param1 are the same numbers in spite of the gradients: they were"
                            + " recorded after the last step, so that there is no step to compare"
                            + " with");
        }
    }

    /** Returns the optimizer for PyTorch's and mmengine's settings. */
    private static Optimizer.Config config(Settings config) {
        Settings paramwise = config.objectOrEmpty("paramwise_cfg");
        Optional<ParameterRule> norms =
                paramwise.has("norm_decay_mult")
                        ? Optional.of(new ParameterRule(1, paramwise.number("norm_decay_mult")))
                        : Optional.empty();
        ParameterRule biases =
                new ParameterRule(
                        paramwise.number("bias_lr_mult", 1),
                        paramwise.number("bias_decay_mult", 1));
        Map<String, ParameterRule> rules = rules(paramwise.objectOrEmpty("custom_keys"));
        paramwise.only("dwconv_decay_mult", 1);
        paramwise.only("flat_decay_mult", 1);
        paramwise.only("dcn_offset_lr_mult", 1);
        paramwise.only("bypass_duplicate", false);
        config.only("maximize", false);
        // These change only how steps are computed, not the results.
        config.describes("foreach", "fused", "capturable", "differentiable");
        double learningRate = config.number("lr", 1e-3);
        String type = config.text("type");
        return switch (type) {
            case "AdamW" -> {
                config.only("amsgrad", false);
                List<Double> betas = config.numbers("betas", List.of(0.9, 0.999));
                yield Configs.of(
                        AdamW.Config.class,
                        Map.of(
                                "learning_rate",
                                learningRate,
                                "beta1",
                                betas.get(0),
                                "beta2",
                                betas.get(1),
                                "epsilon",
                                config.number("eps", 1e-8),
                                "weight_decay",
                                config.number("weight_decay", 1e-2),
                                "norms",
                                norms,
                                "biases",
                                biases,
                                "rules",
                                rules));
            }
            case "SGD" -> {
                config.only("nesterov", false);
                config.only("dampening", 0);
                yield Configs.of(
                        Sgd.Config.class,
                        Map.of(
                                "learning_rate",
                                learningRate,
                                "momentum",
                                config.number("momentum", 0),
                                "weight_decay",
                                config.number("weight_decay", 0),
                                "norms",
                                norms,
                                "biases",
                                biases,
                                "rules",
                                rules));
            }
            case "Lamb" -> {
                List<Double> betas = config.numbers("betas", List.of(0.9, 0.999));
                yield Configs.of(
                        Lamb.Config.class,
                        Map.of(
                                "learning_rate",
                                learningRate,
                                "beta1",
                                betas.get(0),
                                "beta2",
                                betas.get(1),
                                "weight_decay",
                                config.number("weight_decay"),
                                "max_grad_norm",
                                config.number("max_grad_norm", 0),
                                "always_adapt",
                                config.flag("always_adapt", false),
                                "norms",
                                norms,
                                "biases",
                                biases,
                                "rules",
                                rules));
            }
            default -> throw config.unbuilt("type");
        };
    }

    private static Map<String, ParameterRule> rules(Settings customKeys) {
        Map<String, ParameterRule> rules = new LinkedHashMap<>();
        for (String match : customKeys.keys()) {
            Settings rule = customKeys.object(match);
            rules.put(
                    match,
                    new ParameterRule(rule.number("lr_mult", 1), rule.number("decay_mult", 1)));
        }
        return rules;
    }

    private static void compareGroups(Case recorded, List<ParameterGroup> groups) {
        for (Settings expected : recorded.settings().objects("groups")) {
            NumpyArray factors =
                    NumpyArray.of(expected.number("lr_mult"), expected.number("weight_decay"));
            for (String name : expected.texts("params")) {
                ParameterGroup group =
                        groups.stream()
                                .filter(g -> g.parameters().containsKey(name))
                                .findFirst()
                                .orElseThrow();
                recorded.compare(
                        "lr_mult and weight_decay of " + name,
                        factors,
                        NumpyArray.of(group.learningRateFactor(), group.weightDecay()),
                        FACTORS);
            }
        }
    }

    private static Gradients gradients(Case recorded, Module module, int step) {
        Map<String, NDArray> arrays = new LinkedHashMap<>();
        for (String name : module.namedParameters().keySet()) {
            String recordedName = "grad" + step + ":" + name;
            if (recorded.has(recordedName)) {
                arrays.put(name, recorded.tensor(recordedName));
            }
        }
        return new Gradients(arrays);
    }

    private static float clipping(Case recorded, Gradients gradients, int step) {
        if (!recorded.settings().has("clip")) {
            return 1;
        }
        Settings clip = recorded.settings().object("clip");
        clip.only("norm_type", 2);
        Gradients.Norms norms = gradients.norms();
        recorded.compare("total_norm" + step, NumpyArray.of(norms.total()), STATED);
        return norms.clipFactor(clip.number("max_norm"));
    }
}
