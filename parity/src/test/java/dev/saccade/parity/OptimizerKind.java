package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.train.optimizers.AdamW;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.train.optimizers.ParameterGroup;
import dev.saccade.train.optimizers.ParameterRule;
import dev.saccade.train.optimizers.Sgd;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Steps of an optimiser from recorded gradients, with parameter groups and clipping. */
final class OptimizerKind implements Kind {

    private static final Tolerance STATED = new Tolerance(1e-6, 0, 1e-5);

    /** Nothing but the recorded parameters, in a tree of their dotted names. */
    private static final class Parameters extends Module {

        private Parameters(Case recorded, String prefix) {
            Set<String> children = new TreeSet<>();
            for (String name : recorded.names(prefix)) {
                String rest = name.substring(prefix.length());
                int dot = rest.indexOf('.');
                if (dot < 0) {
                    Shape shape = new Shape(recorded.array(name).shape());
                    parameter(rest, shape, WeightInit.ZEROS);
                } else {
                    children.add(rest.substring(0, dot));
                }
            }
            children.forEach(name -> add(name, new Parameters(recorded, prefix + name + ".")));
        }

        static Parameters of(Case recorded) {
            Parameters parameters = new Parameters(recorded, "init:");
            parameters.initialize(recorded.manager(), 0);
            parameters
                    .namedParameters()
                    .forEach(
                            (name, parameter) ->
                                    recorded.tensor("init:" + name).copyTo(parameter.getArray()));
            return parameters;
        }

        @Override
        public NDList call(NDList inputs) {
            throw new UnsupportedOperationException("has parameters only");
        }
    }

    @Override
    public void run(Case recorded) {
        checkRecordedInTime(recorded);
        Settings config = recorded.config();
        Module module = Parameters.of(recorded);
        Optimizer.Config built = config(config);
        checkGroups(recorded, ParameterGroup.of(module, built));

        List<Double> learningRates = recorded.settings().numbers("lr_per_step");
        try (Optimizer optimizer = built.build(module)) {
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

    /** Aborts a case that holds the values after the last step under the names of all steps. */
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
            throw recorded.settings()
                    .unsupported(
                            "init and param1 are the same numbers in spite of the gradients: they"
                                    + " were recorded after the last step, so that there is no"
                                    + " step to compare with");
        }
    }

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
        String type = config.text("type");
        double learningRate = config.number("lr");
        double weightDecay = config.number("weight_decay", 0);
        config.only("amsgrad", false);
        config.only("nesterov", false);
        config.only("dampening", 0);
        return switch (type) {
            case "AdamW" -> {
                List<Double> betas = config.numbers("betas");
                double epsilon = config.number("eps", 1e-8);
                yield new AdamW.Config(
                        learningRate,
                        betas.get(0),
                        betas.get(1),
                        epsilon,
                        weightDecay,
                        norms,
                        biases,
                        rules,
                        Optional.empty());
            }
            case "SGD" ->
                    new Sgd.Config(
                            learningRate,
                            config.number("momentum", 0),
                            weightDecay,
                            norms,
                        biases,
                            rules,
                            Optional.empty());
            default -> throw config.unsupported("no optimiser " + type);
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

    private static void checkGroups(Case recorded, List<ParameterGroup> groups) {
        for (Settings expected : recorded.settings().objects("groups")) {
            for (String name : expected.texts("params")) {
                ParameterGroup group =
                        groups.stream()
                                .filter(g -> g.parameters().containsKey(name))
                                .findFirst()
                                .orElseThrow();
                assertEquals(expected.number("lr_mult"), group.learningRateFactor(), name);
                assertEquals(expected.number("weight_decay"), group.weightDecay(), 1e-12, name);
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
        return norms.clipping(clip.number("max_norm"));
    }
}
