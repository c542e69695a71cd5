package dev.saccade.cli.bench;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Libtorch;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Roofline;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How fast an operator is.
 *
 * @param pass {@code forward}, or {@code training} with the gradients of all inputs
 * @param times of the fused and the portable form
 * @param shares of what the processor could have done in the time of the fused form: of its {@link
 *     #ARITHMETIC} and of its {@link #MEMORY}; empty for training and where the ceilings are
 *     unknown
 */
public record OperatorBench(
        String operator,
        String size,
        String pass,
        Map<String, Timing> times,
        Map<String, Double> shares) {

    /** The share of the additions and multiplications. */
    public static final String ARITHMETIC = "arithmetic";

    /** The share of the bytes read and written. */
    public static final String MEMORY = "memory";

    /**
     * Times all operators.
     *
     * @param images of 224 x 224 that the models would have seen
     */
    public static List<OperatorBench> all(int images, int runs) {
        Optional<Roofline> ceilings = Roofline.measure();
        ImmutableList.Builder<OperatorBench> benches = ImmutableList.builder();
        for (OperatorCase each : OperatorCase.all(images)) {
            benches.add(forward(each, runs, ceilings));
            if (each.differentiable()) {
                benches.add(training(each, runs));
            }
        }
        return benches.build();
    }

    private static OperatorBench forward(OperatorCase c, int runs, Optional<Roofline> ceilings) {
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            NDList inputs = inputs(c, manager);
            Map<String, Timing> times =
                    Timing.measure(
                            () -> NoGrad.call(() -> c.operator().apply(inputs)).close(), runs);
            return new OperatorBench(
                    c.name(),
                    c.size(),
                    "forward",
                    times,
                    ceilings.map(most -> shares(c, times.get(Timing.FUSED).median(), most))
                            .orElse(Map.of()));
        }
    }

    private static Map<String, Double> shares(OperatorCase c, double seconds, Roofline most) {
        return Map.of(
                ARITHMETIC,
                c.work().operations() / seconds / most.operations(),
                MEMORY,
                c.work().numbers() * Float.BYTES / seconds / most.bytes());
    }

    private static OperatorBench training(OperatorCase c, int runs) {
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            NDList inputs = inputs(c, manager);
            inputs.forEach(input -> input.setRequiresGradient(true));
            Map<String, Timing> times =
                    Timing.measure(
                            () ->
                                    Autograd.gradients(
                                                    () -> c.operator().apply(inputs).sum(), inputs)
                                            .close(),
                            runs);
            return new OperatorBench(c.name(), c.size(), "training", times, Map.of());
        }
    }

    private static NDList inputs(OperatorCase c, NDManager manager) {
        return new NDList(c.inputs().stream().map(manager::randomNormal).toArray(NDArray[]::new));
    }
}
