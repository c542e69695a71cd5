package dev.saccade.train.logs;

import static com.google.common.base.Preconditions.checkState;

import dev.saccade.train.hooks.StepMetrics;
import dev.saccade.train.hooks.StepReport;
import dev.saccade.train.hooks.StepTime;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** Averages steps between two lines of the logs. */
final class StepMeter {

    private final Map<String, Double> losses = new LinkedHashMap<>();
    private final Map<String, Double> figures = new LinkedHashMap<>();
    private final Map<String, Integer> stepsWithFigure = new HashMap<>();
    private double loss;
    private double gradientNorm;
    private double seconds;
    private double dataSeconds;
    private int steps;

    /** Takes a step in. */
    void add(StepReport step) {
        StepMetrics metrics = step.metrics();
        metrics.losses().forEach((name, value) -> losses.merge(name, value, Double::sum));
        metrics.figures().forEach((name, value) -> figures.merge(name, value, Double::sum));
        metrics.figures().keySet().forEach(name -> stepsWithFigure.merge(name, 1, Integer::sum));
        loss += metrics.loss();
        gradientNorm += metrics.gradientNorm();
        seconds += step.time().seconds();
        dataSeconds += step.time().dataSeconds();
        steps++;
    }

    /**
     * Returns the mean of the steps since the last call and starts anew.
     *
     * @param last the step taken in last, which gives the counters
     */
    StepReport mean(StepReport last) {
        checkState(steps > 0, "no step to average");
        losses.replaceAll((name, sum) -> sum / steps);
        figures.replaceAll((name, sum) -> sum / stepsWithFigure.get(name));
        StepReport mean =
                new StepReport(
                        last.iteration(),
                        last.iterations(),
                        last.epoch(),
                        last.learningRate(),
                        new StepMetrics(loss / steps, losses, figures, gradientNorm / steps),
                        new StepTime(
                                seconds / steps, dataSeconds / steps, last.time().remaining()));
        losses.clear();
        figures.clear();
        stepsWithFigure.clear();
        loss = 0;
        gradientNorm = 0;
        seconds = 0;
        dataSeconds = 0;
        steps = 0;
        return mean;
    }
}
