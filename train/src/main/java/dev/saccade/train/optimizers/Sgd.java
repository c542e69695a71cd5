package dev.saccade.train.optimizers;

import dev.saccade.core.Checks;
import dev.saccade.core.Text;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.MemoryFormat;

import java.util.Map;
import java.util.Optional;

/** SGD with momentum and L2 weight decay, like {@code torch.optim.SGD}. */
public final class Sgd extends Optimizer {

    /** Hyperparameters, before the schedule and {@link ParameterRule}s are applied. */
    @Component("sgd")
    public record Config(
            @Default("0.02") double learningRate,
            @Default("0.9") double momentum,
            @Default("1e-4") double weightDecay,
            @Unwrapped ParamwiseConfig paramwise)
            implements Optimizer.Config {

        public Config {
            new Checks()
                    .above("learning_rate", learningRate, 0, 1000)
                    .below("momentum", momentum, 0, 1)
                    .inRange("weight_decay", weightDecay, 0, 1000)
                    .throwIfAny();
        }

        @Override
        public Sgd build(Module module) {
            return new Sgd(this, module);
        }
    }

    private Sgd(Config config, Module module) {
        super(
                module,
                config,
                config.momentum() == 0
                        ? Map.of()
                        : Map.of("momentum_buffer", MemoryFormat::zerosLike),
                Text.format(
                        """
                        torch._fused_sgd_(weights, gradients, %s, \
                        weight_decay=weight_decay, momentum=%s, lr=lr, \
                        dampening=0., nesterov=False, maximize=False, is_first_step=False)
                        """,
                        config.momentum() == 0 ? "annotate(List[Tensor], [])" : "momentum_buffer",
                        config.momentum()),
                Optional.empty());
    }
}
