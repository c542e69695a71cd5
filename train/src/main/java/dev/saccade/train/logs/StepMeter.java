package dev.saccade.train.logs;

import static com.google.common.base.Preconditions.checkState;

import dev.saccade.train.hooks.LogVars;
import dev.saccade.train.hooks.StepReport;
import dev.saccade.train.hooks.StepTime;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Averages steps between two lines of the logs: losses and gradient norms each over the steps where
 * they are numbers, which those that were left out in float16 need not have; NaN where none has.
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
    private int stepsWithLoss;
    private int stepsWithNorm;

    /** Takes a step in. */
    void add(StepReport step) {
        LogVars logVars = step.logVars();
        if (Double.isFinite(logVars.loss())) {
            logVars.losses().forEach((name, value) -> losses.merge(name, value, Double::sum));
            loss += logVars.loss();
            stepsWithLoss++;
        }
        if (Double.isFinite(logVars.gradientNorm())) {
            gradientNorm += logVars.gradientNorm();
            stepsWithNorm++;
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
        losses.replaceAll((name, sum) -> sum / stepsWithLoss);
        metrics.replaceAll((name, sum) -> sum / stepsWithMetric.get(name));
        StepReport mean =
                new StepReport(
                        last.iteration(),
                        last.iterations(),
                        last.epoch(),
                        last.learningRate(),
                        new LogVars(
                                loss / stepsWithLoss,
                                losses,
                                metrics,
                                gradientNorm / stepsWithNorm),
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
        stepsWithLoss = 0;
        stepsWithNorm = 0;
        return mean;
    }
}
