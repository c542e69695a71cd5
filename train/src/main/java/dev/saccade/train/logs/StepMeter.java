package dev.saccade.train.logs;

import static com.google.common.base.Preconditions.checkState;

import dev.saccade.train.hooks.LogVars;
import dev.saccade.train.hooks.StepReport;
import dev.saccade.train.hooks.StepTime;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Averages steps between two lines of the logs. Those that were left out in float16 count for time
 * alone; where all were, the means are NaN.
 */
final class StepMeter {

    private final Map<String, Double> losses = new LinkedHashMap<>();
    private final Map<String, Double> metrics = new LinkedHashMap<>();
    private final Map<String, Integer> stepsWithMetric = new HashMap<>();
    private double loss;
    private double gradientNorm;
    private double seconds;
    private double dataSeconds;
    private int steps;
    private int learned;

    /** Takes a step in. */
    void add(StepReport step) {
        LogVars logVars = step.logVars();
        if (Double.isFinite(logVars.gradientNorm())) {
            logVars.losses().forEach((name, value) -> losses.merge(name, value, Double::sum));
            loss += logVars.loss();
            gradientNorm += logVars.gradientNorm();
            learned++;
        }
        logVars.metrics().forEach(this::add);
        seconds += step.time().seconds();
        dataSeconds += step.time().dataSeconds();
        steps++;
    }

    private void add(String metric, double value) {
        if (Double.isFinite(value)) {
            metrics.merge(metric, value, Double::sum);
            stepsWithMetric.merge(metric, 1, Integer::sum);
        }
    }

    /**
     * Returns the mean of the steps since the last call and starts anew.
     *
     * @param last the step taken in last, which gives the counters
     */
    StepReport mean(StepReport last) {
        checkState(steps > 0, "no step to average");
        losses.replaceAll((name, sum) -> sum / learned);
        metrics.replaceAll((name, sum) -> sum / stepsWithMetric.get(name));
        StepReport mean =
                new StepReport(
                        last.iteration(),
                        last.iterations(),
                        last.epoch(),
                        last.learningRate(),
                        new LogVars(loss / learned, losses, metrics, gradientNorm / learned),
                        new StepTime(
                                seconds / steps, dataSeconds / steps, last.time().remaining()));
        losses.clear();
        metrics.clear();
        stepsWithMetric.clear();
        loss = 0;
        gradientNorm = 0;
        seconds = 0;
        dataSeconds = 0;
        steps = 0;
        learned = 0;
        return mean;
    }
}
