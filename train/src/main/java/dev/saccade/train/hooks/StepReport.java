package dev.saccade.train.hooks;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ListMultimap;
import com.google.common.collect.Lists;
import com.google.common.collect.Maps;
import com.google.common.collect.MultimapBuilder;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * Progress of one optimizer step, or the mean of several.
 *
 * @param iteration number of finished optimizer steps, including this one
 * @param iterations optimizer steps of the whole run
 * @param epoch from 0
 * @param learningRate before factors per parameter
 * @param loss sum of the loss terms
 * @param metrics of the model and the hooks by name, such as {@code acc}
 * @param gradientNorm before clipping
 * @param seconds wall time, including waiting for data
 * @param dataSeconds time spent waiting for data
 * @param remaining estimated time to the end of the run
 */
public record StepReport(
        long iteration,
        long iterations,
        int epoch,
        double learningRate,
        double loss,
        Map<String, Double> losses,
        Map<String, Double> metrics,
        double gradientNorm,
        double seconds,
        double dataSeconds,
        Duration remaining) {

    public StepReport {
        losses = ImmutableMap.copyOf(losses);
        metrics = ImmutableMap.copyOf(metrics);
    }

    /**
     * Returns means over steps, ignoring values that are not finite, such as after an overflow of
     * float16. If no value is finite, the mean is NaN, or missing in a map. Counters, learning rate
     * and remaining time are from the last step.
     */
    public static StepReport mean(List<StepReport> steps) {
        StepReport last = steps.get(steps.size() - 1);
        List<StepReport> finite = steps.stream().filter(s -> Double.isFinite(s.loss)).toList();
        return new StepReport(
                last.iteration,
                last.iterations,
                last.epoch,
                last.learningRate,
                mean(Lists.transform(steps, StepReport::loss)),
                means(Lists.transform(finite, StepReport::losses)),
                means(Lists.transform(steps, StepReport::metrics)),
                mean(Lists.transform(steps, StepReport::gradientNorm)),
                mean(Lists.transform(steps, StepReport::seconds)),
                mean(Lists.transform(steps, StepReport::dataSeconds)),
                last.remaining);
    }

    private static double mean(Collection<Double> values) {
        return values.stream()
                .mapToDouble(Double::doubleValue)
                .filter(Double::isFinite)
                .average()
                .orElse(Double.NaN);
    }

    private static Map<String, Double> means(List<Map<String, Double>> values) {
        ListMultimap<String, Double> byName =
                MultimapBuilder.linkedHashKeys().arrayListValues().build();
        values.forEach(step -> step.forEach(byName::put));
        return Maps.filterValues(
                Maps.transformValues(byName.asMap(), StepReport::mean), Double::isFinite);
    }

    public double dataFraction() {
        return seconds > 0 ? dataSeconds / seconds : 0;
    }
}
