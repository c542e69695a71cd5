package dev.saccade.train.logs;

import static com.google.common.base.Preconditions.checkState;

import dev.saccade.train.hooks.StepReport;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * Averages steps between two lines of the logs: losses and gradient norms each over the steps where
 * they are finite, since steps that float16 skips need not have them; NaN where none has.
 */
final class StepMeter {

    private final List<StepReport> steps = new ArrayList<>();

    /** Adds a step. */
    void add(StepReport step) {
        steps.add(step);
    }

    /** Returns the mean of the steps since the last call, with the counters of the last. */
    StepReport mean() {
        checkState(!steps.isEmpty(), "no step to average");
        List<StepReport> finite = steps.stream().filter(s -> Double.isFinite(s.loss())).toList();
        StepReport last = steps.get(steps.size() - 1);
        StepReport mean =
                new StepReport(
                        last.iteration(),
                        last.iterations(),
                        last.epoch(),
                        last.learningRate(),
                        mean(StepReport::loss),
                        means(finite, StepReport::losses),
                        means(steps, StepReport::metrics),
                        mean(StepReport::gradientNorm),
                        mean(StepReport::seconds),
                        mean(StepReport::dataSeconds),
                        last.remaining());
        steps.clear();
        return mean;
    }

    private double mean(ToDoubleFunction<StepReport> value) {
        double sum = 0;
        int count = 0;
        for (StepReport step : steps) {
            double each = value.applyAsDouble(step);
            if (Double.isFinite(each)) {
                sum += each;
                count++;
            }
        }
        return sum / count;
    }

    /** Returns the mean of each value over the steps where it is finite. */
    private static Map<String, Double> means(
            List<StepReport> steps, Function<StepReport, Map<String, Double>> values) {
        Map<String, double[]> sums = new LinkedHashMap<>();
        for (StepReport step : steps) {
            values.apply(step)
                    .forEach(
                            (name, value) -> {
                                double[] sum = sums.computeIfAbsent(name, key -> new double[2]);
                                if (Double.isFinite(value)) {
                                    sum[0] += value;
                                    sum[1]++;
                                }
                            });
        }
        Map<String, Double> means = new LinkedHashMap<>();
        sums.forEach(
                (name, sum) -> {
                    if (sum[1] > 0) {
                        means.put(name, sum[0] / sum[1]);
                    }
                });
        return means;
    }
}
