package dev.saccade.config;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.components.Variant;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A config with one component of every kind. */
record Recipe(
        @Default("12") int epochs,
        @Default("0") long seed,
        @Default("0.1") float momentum,
        @Default("1e-7") double learningRate,
        @Default("false") boolean amp,
        @Default("1x") String name,
        @Default("data") Path root,
        @Default("poly") Policy policy,
        Optional<Integer> warmUp,
        Optional<Section> extra,
        @Default("[]") List<Double> scales,
        @Default("{}") Map<String, Double> multipliers,
        @Default("{depth: 18, out_indices: [3]}") Section section,
        @Default("{type: sgd, lr: 0.5, momentum: 0.8}") Optimizer optimizer,
        @Default("[]") List<Optimizer> stages) {

    enum Policy {
        POLY,
        WARM_UP_STEP
    }

    record Section(@Default("50") int depth, @Default("[0, 1, 2, 3]") List<Integer> outIndices) {

        Section {
            new Checks()
                    .inRange("depth", depth, 1, 1000)
                    .each("out_indices", outIndices, 0, 3)
                    .throwIfAny();
        }
    }

    interface Optimizer extends ComponentConfig {}

    @Component("sgd")
    record Sgd(@Default("0.02") double lr, @Default("0.9") double momentum) implements Optimizer {}

    @Component("adamw")
    record AdamW(@Default("1e-4") double lr, @Default("0.05") double weightDecay)
            implements Optimizer {}

    @Component("lamb")
    @Variant(name = "small")
    @Variant(
            name = "large",
            settings = {"lr: 0.3", "depth: 200", "section: {depth: 7}"})
    record Lamb(
            @Default("small") String variant,
            @Default("0.1") double lr,
            Section section,
            @Unwrapped @Default("{depth: 100}") Section whole)
            implements Optimizer {}

    @Component("rprop")
    @Variant(name = "rprop10", settings = "steps: 10")
    @Variant(name = "rprop20")
    record Rprop(@Default("20") int steps) implements Optimizer {}

    /** Registers the optimizers. */
    public static final class Provider implements ComponentProvider {

        @Override
        public List<Class<? extends ComponentConfig>> components() {
            return List.of(Sgd.class, AdamW.class, Lamb.class, Rprop.class);
        }
    }
}
