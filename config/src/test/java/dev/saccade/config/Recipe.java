package dev.saccade.config;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.PartConfig;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A config with one component of every kind. */
record Recipe(
        int epochs,
        long seed,
        float momentum,
        double learningRate,
        boolean amp,
        String name,
        Path root,
        Policy policy,
        Optional<Integer> warmUp,
        Optional<Section> extra,
        List<Double> scales,
        Map<String, Double> multipliers,
        Section section,
        Optimizer optimizer,
        List<Optimizer> stages) {

    enum Policy {
        POLY,
        WARM_UP_STEP
    }

    record Section(int depth, List<Integer> outIndices) {

        Section() {
            this(50, List.of(0, 1, 2, 3));
        }

        Section {
            new Checks()
                    .within("depth", depth, 1, 1000)
                    .each("out_indices", outIndices, 0, 3)
                    .throwIfAny();
        }
    }

    interface Optimizer extends PartConfig {}

    public record Sgd(double lr, double momentum) implements Optimizer {

        public Sgd() {
            this(0.02, 0.9);
        }

        @Override
        public String type() {
            return "sgd";
        }
    }

    public record AdamW(double lr, double weightDecay) implements Optimizer {

        public AdamW() {
            this(1e-4, 0.05);
        }

        @Override
        public String type() {
            return "adamw";
        }
    }

    Recipe() {
        this(
                12,
                0,
                0.1f,
                1e-7,
                false,
                "1x",
                Path.of("data"),
                Policy.POLY,
                Optional.empty(),
                Optional.empty(),
                List.of(),
                Map.of(),
                new Section(18, List.of(3)),
                new Sgd(0.5, 0.8),
                List.of());
    }
}
