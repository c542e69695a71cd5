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

/**
 * LAMB for large batches (You et al. 2020), like timm's {@code Lamb}: Adam whose update of each
 * parameter is scaled to the norm of the parameter. Has a step count per parameter.
 */
public final class Lamb extends Optimizer {

    /**
     * Hyperparameters, before the schedule and {@link ParameterRule}s are applied.
     *
     * @param maxGradNorm limit of the norm of all gradients together; 0 for no limit
     * @param alwaysAdapt whether updates of parameters without weight decay are scaled, too
     */
    @Component("lamb")
    public record Config(
            @Default("1e-3") double learningRate,
            @Default("0.9") double beta1,
            @Default("0.999") double beta2,
            @Default("1e-6") double epsilon,
            @Default("0.01") double weightDecay,
            @Default("1") double maxGradNorm,
            @Default("false") boolean alwaysAdapt,
            @Unwrapped ParamwiseConfig paramwise)
            implements Optimizer.Config {

        public Config {
            new Checks()
                    .above("learning_rate", learningRate, 0, 1000)
                    .below("beta1", beta1, 0, 1)
                    .below("beta2", beta2, 0, 1)
                    .above("epsilon", epsilon, 0, 1)
                    .inRange("weight_decay", weightDecay, 0, 1000)
                    .inRange("max_grad_norm", maxGradNorm, 0, 1e6)
                    .throwIfAny();
        }

        @Override
        public Lamb build(Module module) {
            return new Lamb(this, module);
        }
    }

    private Lamb(Config config, Module module) {
        super(
                module,
                config,
                ImmutableMap.of(
                        "exp_avg", MemoryFormat::zerosLike,
                        "exp_avg_sq", MemoryFormat::zerosLike,
                        "step", weight -> weight.getManager().zeros(new Shape())),
                clip(config.maxGradNorm()) + moments(config) + UPDATE);
    }

    private static String clip(double maxNorm) {
        return maxNorm == 0
                ? ""
                : Text.format(
                        """
                        norm = torch.norm(torch.stack(torch._foreach_norm(gradients, 2)))
                        limit = torch.clamp_min(torch.div(norm, %s), 1.0)
                        clipped = annotate(List[Tensor], [])
                        for c in range(torch.len(gradients)):
                          _0 = torch.append(clipped, torch.div(gradients[c], limit))
                        gradients = clipped
                        """,
                        maxNorm);
    }

    /** Bias corrections use expm1, since {@code 1 - beta ** step} is inexact in float32. */
    private static String moments(Config config) {
        return Text.format(
                """
                torch._foreach_add_(step, 1)
                torch._foreach_mul_(exp_avg, %s)
                torch._foreach_add_(exp_avg, gradients, alpha=%s)
                torch._foreach_mul_(exp_avg_sq, %s)
                torch._foreach_addcmul_(exp_avg_sq, gradients, gradients, %s)
                steps = torch.stack(step)
                bias1 = torch.neg(torch.expm1(torch.mul(steps, %s)))
                bias2 = torch.sqrt(torch.neg(torch.expm1(torch.mul(steps, %s))))
                epsilon = %s
                always = %s
                """,
                config.beta1(),
                1 - config.beta1(),
                config.beta2(),
                1 - config.beta2(),
                logarithm(config.beta1()),
                logarithm(config.beta2()),
                config.epsilon(),
                config.alwaysAdapt() ? "True" : "False");
    }

    private static double logarithm(double beta) {
        return Math.log(Math.max(beta, Double.MIN_NORMAL));
    }

    private static final String UPDATE =
            """
            for i in range(torch.len(weights)):
              weight = weights[i]
              rate = float(torch.select(lr, 0, i))
              decay = float(torch.select(weight_decay, 0, i))
              root = torch.div(torch.sqrt(exp_avg_sq[i]), torch.select(bias2, 0, i))
              mean = torch.div(exp_avg[i], torch.select(bias1, 0, i))
              update = torch.div(mean, torch.add(root, epsilon))
              if decay != 0.0:
                update = torch.add(update, weight, alpha=decay)
              if decay != 0.0 or always:
                own = torch.norm(weight)
                change = torch.norm(update)
                both = torch.logical_and(torch.gt(own, 0), torch.gt(change, 0))
                ratio = torch.where(both, torch.div(own, change), torch.ones_like(own))
                update = torch.mul(update, ratio)
              _1 = torch.add_(weight, update, alpha=-rate)
            """;
}
