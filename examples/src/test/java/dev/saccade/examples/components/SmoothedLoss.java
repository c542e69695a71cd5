package dev.saccade.examples.components;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.HookState;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

/** Logs a running mean of the loss, which continues when a run is resumed. */
public final class SmoothedLoss implements Hook {

    @Component("smoothed_loss")
    public record Config(@Default("0.98") double momentum) implements Hook.Config {

        public Config {
            new Checks().below("momentum", momentum, 0, 1).throwIfAny();
        }

        @Override
        public SmoothedLoss build() {
            return new SmoothedLoss(momentum);
        }
    }

    private final double momentum;
    private double mean = Double.NaN;

    private SmoothedLoss(double momentum) {
        this.momentum = momentum;
    }

    @Override
    public void afterStep(Run run, StepReport step) {
        double loss = step.loss();
        mean = Double.isNaN(mean) ? loss : momentum * mean + (1 - momentum) * loss;
        run.addMetric("smoothed_loss", mean);
    }

    @Override
    public void save(HookState state) {
        state.put("mean", mean);
    }

    @Override
    public void restore(HookState state) {
        mean = state.number("mean");
    }
}
