package dev.saccade.examples.components;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.train.optimizers.Optimizer;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The Lion optimizer: updates by the sign of averaged gradients (Chen et al. 2023). */
public final class Lion extends Optimizer {

    @Component("lion")
    public record Config(
            @Default("1e-4") double learningRate,
            @Default("0.9") double beta1,
            @Default("0.99") double beta2,
            @Default("0") double weightDecay)
            implements Optimizer.Config {

        public Config {
            new Checks()
                    .above("learning_rate", learningRate, 0, 1)
                    .below("beta1", beta1, 0, 1)
                    .below("beta2", beta2, 0, 1)
                    .inRange("weight_decay", weightDecay, 0, 1000)
                    .throwIfAny();
        }

        @Override
        public Lion build(Module module) {
            return new Lion(this, module);
        }
    }

    private Lion(Config config, Module module) {
        super(
                module,
                config,
                Map.of("exp_avg", MemoryFormat::zerosLike),
                String.format(
                        Locale.ROOT,
                        """
                        for i in range(torch.len(weights)):
                          direction = torch.sign(torch.lerp(gradients[i], exp_avg[i], %s))
                          weights[i].mul_(1 - lr * weight_decay).sub_(direction, alpha=lr)
                          exp_avg[i].lerp_(gradients[i], 1 - %s)
                        """,
                        config.beta1(),
                        config.beta2()),
                Optional.empty());
    }
}
