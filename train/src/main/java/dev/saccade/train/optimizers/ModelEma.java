package dev.saccade.train.optimizers;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Script;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Exponential moving average of the trainable weights (Polyak and Juditsky 1992), which usually
 * performs better than the last weights. The managers of the weights own the averages. Not
 * thread-safe.
 */
public final class ModelEma {

    /**
     * Settings of {@code average = decay * average + (1 - decay) * weight}.
     *
     * @param decay in (0, 1], as in PyTorch's {@code get_ema_multi_avg_fn}; mmengine's {@code
     *     momentum} is 1 - decay. 1 selects the plain mean of stochastic weight averaging, which
     *     has a decay of n / (n + 1) after n updates
     * @param warmup time constant in steps of the decay's warm-up, {@code decay * (1 - exp(-(1 +
     *     step) / warmup))}, as in mmdetection's {@code ExpMomentumEMA}; 0 for no warm-up
     * @param interval optimizer steps per update
     * @param updateBuffers whether to average running statistics, instead of using the latest
     */
    public record Config(
            @Default("0.9998") double decay,
            @Default("2000") long warmup,
            @Default("1") int interval,
            @Default("false") boolean updateBuffers) {

        public Config {
            new Checks()
                    .above("decay", decay, 0, 1)
                    .inRange("warmup", warmup, 0, 1e9)
                    .inRange("interval", interval, 1, 1_000_000)
                    .throwIfAny();
        }

        /** Creates averages that start with the values of a module. */
        public ModelEma build(Module module) {
            return new ModelEma(this, module);
        }

        /** Returns the decay of a step, counted from 0; the first step copies the weights. */
        private double decay(long step) {
            if (step == 0) {
                return 0;
            }
            long updates = step / interval;
            double last = decay < 1 ? decay : updates / (updates + 1.0);
            return warmup == 0 ? last : last * -Math.expm1(-(1.0 + step) / warmup);
        }
    }

    /** Update after a step, by parameter name; {@code averages} is empty if no update is due. */
    public record Update(
            Map<String, NDArray> weights, Map<String, NDArray> averages, double decay) {

        /** An update that does not change the averages. */
        public static final Update NONE = new Update(Map.of(), Map.of(), 1);

        Update without(Set<String> names) {
            return new Update(
                    Maps.filterKeys(weights, name -> !names.contains(name)),
                    Maps.filterKeys(averages, name -> !names.contains(name)),
                    decay);
        }

        public void apply() {
            if (averages.isEmpty()) {
                return;
            }
            NDManager manager = averages.values().iterator().next().getManager();
            try (NDManager scratch = manager.newSubManager(Device.cpu())) {
                List<NDArray> followed = averages.keySet().stream().map(weights::get).toList();
                List<NDArray> share = List.of(scratch.create(1 - decay));
                List<NDArray> all = List.copyOf(averages.values());
                NoGrad.run(() -> LERP.runLists(List.of(share, all, followed)).close());
            }
        }
    }

    private static final Script LERP =
            Script.compile(
                            "(share: List[Tensor], averages: List[Tensor], weights: List[Tensor])"
                                    + " -> Tensor",
                            """
                            torch._foreach_lerp_(averages, weights, float(share[0]))
                            return share[0]
                            """)
                    .withoutReadCounts();

    private final Config config;
    private final Map<String, Parameter> parameters;
    private final Map<String, NDArray> averages;

    private ModelEma(Config config, Module module) {
        this.config = config;
        this.parameters =
                ImmutableMap.copyOf(
                        Maps.filterValues(
                                module.namedParameters(),
                                p ->
                                        Module.isBuffer(p)
                                                ? config.updateBuffers()
                                                : p.requiresGradient()));
        this.averages = ImmutableMap.copyOf(Maps.transformValues(weights(), ModelEma::copy));
    }

    private static NDArray copy(NDArray weight) {
        NDArray copy = MemoryFormat.zerosLike(weight);
        MemoryFormat.copy(weight, copy);
        return copy;
    }

    /** Returns the averages by dotted parameter name. */
    public Map<String, NDArray> averages() {
        return averages;
    }

    /** Returns the module's weights that are averaged, by the same names. */
    public Map<String, NDArray> weights() {
        return ImmutableMap.copyOf(Maps.transformValues(parameters, Parameter::getArray));
    }

    /** Returns the update of a step, counted from 0. */
    public Update update(long step) {
        return step % config.interval() == 0
                ? new Update(weights(), averages, config.decay(step))
                : Update.NONE;
    }

    /** Swaps the module's weights with the averages, bit for bit; a second call swaps back. */
    public void swap() {
        for (Map.Entry<String, NDArray> weight : weights().entrySet()) {
            NDArray average = averages.get(weight.getKey());
            try (NDArray kept = copy(weight.getValue())) {
                MemoryFormat.copy(average, weight.getValue());
                MemoryFormat.copy(kept, average);
            }
        }
    }
}
