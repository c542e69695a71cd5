package dev.saccade.train.optimizers;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.parts.Default;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Averages of the weights over the steps of a training (Polyak and Juditsky 1992), which mostly do
 * better than the weights of its last step.
 *
 * <p>Averaged is what is learned; what is frozen stays what it is. The averages belong to the
 * managers of the weights. Not thread-safe.
 */
public final class ModelEma {

    /**
     * How weights are averaged: {@code average = decay * average + (1 - decay) * weight}.
     *
     * @param decay the share of the old average, in (0, 1], as of PyTorch's {@code
     *     get_ema_multi_avg_fn}; mmengine's {@code momentum} is 1 less this. With 1 all updates
     *     count the same, as in stochastic weight averaging: the share is n / (n + 1) after n of
     *     them
     * @param warmup optimizer steps in which what is missing to {@code decay} falls to 1/e, so that
     *     the first weights are soon forgotten: the share is {@code decay * (1 - exp(-(1 + step) /
     *     warmup))}, as in mmdetection's {@code ExpMomentumEMA}; 0 for no warm-up
     * @param interval optimizer steps from one update to the next
     * @param updateBuffers whether running statistics are averaged, too; else those of the last
     *     step count
     */
    public record Config(
            @Default("0.9998") double decay,
            @Default("2000") long warmup,
            @Default("1") int interval,
            @Default("false") boolean updateBuffers) {

        /** Checks the values. */
        public Config {
            new Checks()
                    .above("decay", decay, 0, 1)
                    .inRange("warmup", warmup, 0, 1e9)
                    .inRange("interval", interval, 1, 1_000_000)
                    .throwIfAny();
        }

        /** Returns averages for a module, which begin with its values. */
        public ModelEma build(Module module) {
            return new ModelEma(this, module);
        }

        /**
         * Returns the share of the old average in a step, from 0; none of it is left in the first.
         */
        private double decay(long step) {
            if (step == 0) {
                return 0;
            }
            long updates = step / interval;
            double last = decay < 1 ? decay : updates / (updates + 1.0);
            return warmup == 0 ? last : last * -Math.expm1(-(1.0 + step) / warmup);
        }
    }

    /**
     * What averages do in one optimizer step.
     *
     * @param weights what they follow, by name
     * @param averages the averages, by the same names; none where it is not the time
     * @param decay the share of the old averages, in [0, 1]
     */
    public record Update(
            Map<String, NDArray> weights, Map<String, NDArray> averages, double decay) {

        /** Leaves the averages as they are, where there are any. */
        public static final Update NONE = new Update(Map.of(), Map.of(), 1);

        /** Returns the same but for some names. */
        Update without(Set<String> names) {
            return new Update(
                    Maps.filterKeys(weights, name -> !names.contains(name)),
                    Maps.filterKeys(averages, name -> !names.contains(name)),
                    decay);
        }

        /** Has the averages follow the weights. */
        public void apply() {
            if (averages.isEmpty()) {
                return;
            }
            NDManager manager = averages.values().iterator().next().getManager();
            try (NDManager scratch = manager.newSubManager(Device.cpu())) {
                List<NDArray> followed = averages.keySet().stream().map(weights::get).toList();
                List<NDArray> share = List.of(scratch.create(1 - decay));
                List<NDArray> all = List.copyOf(averages.values());
                NoGrad.run(() -> FOLLOW.runLists(List.of(share, all, followed)).close());
            }
        }
    }

    private static final Script FOLLOW =
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

    /** Returns the averages by the dotted names of the module. */
    public Map<String, NDArray> averages() {
        return averages;
    }

    /** Returns the values that are averaged, by the same names. */
    public Map<String, NDArray> weights() {
        return ImmutableMap.copyOf(Maps.transformValues(parameters, Parameter::getArray));
    }

    /**
     * Returns what the averages do in an optimizer step.
     *
     * @param step optimizer steps taken before it
     */
    public Update update(long step) {
        return step % config.interval() == 0
                ? new Update(weights(), averages, config.decay(step))
                : Update.NONE;
    }

    /** Exchanges the values of the module and the averages, bit by bit; twice restores them. */
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
