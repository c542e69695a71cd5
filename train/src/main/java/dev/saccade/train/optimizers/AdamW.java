package dev.saccade.train.optimizers;

import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Checks;
import dev.saccade.core.Text;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.MemoryFormat;

import java.util.Optional;

/**
 * AdamW (Loshchilov and Hutter 2019), like {@code torch.optim.AdamW}, with a step count per
 * parameter.
 */
public final class AdamW extends Optimizer {

    /** Hyperparameters, before the schedule and {@link ParameterRule}s are applied. */
    @Component("adamw")
    public record Config(
            @Default("1e-4") double learningRate,
            @Default("0.9") double beta1,
            @Default("0.999") double beta2,
            @Default("1e-8") double epsilon,
            @Default("0.05") double weightDecay,
            @Unwrapped ParamwiseConfig paramwise)
            implements Optimizer.Config {

        public Config {
            new Checks()
                    .above("learning_rate", learningRate, 0, 1000)
                    .below("beta1", beta1, 0, 1)
                    .below("beta2", beta2, 0, 1)
                    .above("epsilon", epsilon, 0, 1)
                    .inRange("weight_decay", weightDecay, 0, 1000)
                    .throwIfAny();
        }

        @Override
        public AdamW build(Module module) {
            return new AdamW(this, module);
        }
    }

    private AdamW(Config config, Module module) {
        super(
                module,
                config,
                ImmutableMap.of(
                        "exp_avg", MemoryFormat::zerosLike,
                        "exp_avg_sq", MemoryFormat::zerosLike,
                        "step", weight -> weight.getManager().zeros(new Shape())),
                Text.format(
                        """
                        torch._foreach_add_(step, 1)
                        torch._fused_adamw_(weights, gradients, exp_avg, exp_avg_sq, \
                        annotate(List[Tensor], []), step, lr=lr, beta1=%s, beta2=%s, \
                        weight_decay=weight_decay, eps=%s, amsgrad=False, maximize=False)
                        """,
                        config.beta1(), config.beta2(), config.epsilon()),
                Optional.of(
                        Text.format(
                                """
                                ops.saccade.adamw_(weights, gradients, exp_avg, exp_avg_sq, step, \
                                averages, lr, weight_decay, %s, %s, %s, factor, average_decay)
                                """,
                                config.beta1(), config.beta2(), config.epsilon())));
    }
}
