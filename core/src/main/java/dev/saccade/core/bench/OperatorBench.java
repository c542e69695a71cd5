package dev.saccade.core.bench;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Libtorch;
import dev.saccade.core.Text;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Roofline;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Run times of a fused operator.
 *
 * @param pass {@code forward}, or {@code training} with the gradients of all inputs
 * @param times run times of the fused and portable variants
 * @param peakRatios fractions of the processor's peak {@link #ARITHMETIC} and {@link #MEMORY}
 *     rates; empty for training, for operators without multiply-adds, or if peaks are unknown
 */
public record OperatorBench(
        String operator,
        String size,
        String pass,
        Map<String, Timing> times,
        Map<String, Double> peakRatios) {

    private static final String ARITHMETIC = "arithmetic";
    private static final String MEMORY = "memory";
    private static final String COLUMNS = "%-19s %-27s %-9s %11s %11s %7s %10s %7s%n";
    private static final String HEADER =
            "operator            size                        pass      "
                    + "      fused    portable speedup arithmetic  memory";

    private static final double MILLIS = 1e3;

    /** Times all operators with batches of 224 x 224 images. */
    public static List<OperatorBench> all(int images, int runs) {
        Optional<Roofline> peak = Roofline.measure();
        Timing.Plan plan = new Timing.Plan(runs, true, 0);
        ImmutableList.Builder<OperatorBench> benches = ImmutableList.builder();
        for (OperatorCase each : OperatorCase.all(images)) {
            benches.add(forward(each, plan, peak));
            if (each.differentiable()) {
                benches.add(training(each, plan));
            }
        }
        return benches.build();
    }

    public static String table(List<OperatorBench> benches) {
        StringBuilder table = new StringBuilder();
        table.append(Text.format("operators: %s%n", Kernels.status()));
        table.append(HEADER).append(System.lineSeparator());
        for (OperatorBench bench : benches) {
            table.append(
                    Text.format(
                            COLUMNS,
                            bench.operator,
                            bench.size,
                            bench.pass,
                            bench.millis(Timing.FUSED),
                            bench.millis(Timing.PORTABLE),
                            Timing.ratio(bench.times),
                            bench.percent(ARITHMETIC),
                            bench.percent(MEMORY)));
        }
        return table.toString().stripTrailing();
    }

    private String millis(String variant) {
        Timing time = times.get(variant);
        return time == null ? "-" : Text.format("%.2f ms", time.median() * MILLIS);
    }

    private String percent(String rate) {
        Double share = peakRatios.get(rate);
        return share == null ? "-" : Text.format("%.0f %%", 100 * share);
    }

    private static OperatorBench forward(
            OperatorCase c, Timing.Plan plan, Optional<Roofline> peak) {
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            NDList inputs = inputs(c, manager);
            Supplier<NDArray> operator = () -> NoGrad.call(() -> c.operator().apply(inputs));
            Map<String, Timing> times = Timing.measure(() -> operator.get().close(), plan);
            double seconds = times.values().iterator().next().median();
            ImmutableMap.Builder<String, Double> peakRatios = ImmutableMap.builder();
            if (peak.isPresent()) {
                long multiplyAdds = MultiplyAdds.count(() -> operator.get().close());
                long numbers =
                        inputs.stream().mapToLong(NDArray::size).sum() + operator.get().size();
                if (multiplyAdds > 0) {
                    peakRatios.put(
                            ARITHMETIC, 2 * multiplyAdds / seconds / peak.get().operations());
                    peakRatios.put(MEMORY, numbers * Float.BYTES / seconds / peak.get().bytes());
                }
            }
            return new OperatorBench(c.name(), c.size(), "forward", times, peakRatios.build());
        }
    }

    private static OperatorBench training(OperatorCase c, Timing.Plan plan) {
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            NDList inputs = inputs(c, manager);
            inputs.forEach(input -> input.setRequiresGradient(true));
            Map<String, Timing> times =
                    Timing.measure(
                            () ->
                                    Autograd.gradients(
                                                    () -> c.operator().apply(inputs).sum(), inputs)
                                            .close(),
                            plan);
            return new OperatorBench(c.name(), c.size(), "training", times, Map.of());
        }
    }

    private static NDList inputs(OperatorCase c, NDManager manager) {
        return new NDList(c.inputs().stream().map(manager::randomNormal).toArray(NDArray[]::new));
    }
}
