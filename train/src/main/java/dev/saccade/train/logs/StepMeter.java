package dev.saccade.train.logs;

import static com.google.common.base.Preconditions.checkState;

import java.util.LinkedHashMap;
import java.util.Map;

/** Averages steps between two lines of the logs. */
public final class StepMeter {

    private final Map<String, Double> losses = new LinkedHashMap<>();
    private final Map<String, Double> figures = new LinkedHashMap<>();
    private double loss;
    private double gradientNorm;
    private double seconds;
    private double dataSeconds;
    private int steps;

    /** Takes a step in. */
    public void add(StepReport step) {
        step.losses().forEach((name, value) -> losses.merge(name, value, Double::sum));
        step.figures().forEach((name, value) -> figures.merge(name, value, Double::sum));
        loss += step.loss();
        gradientNorm += step.gradientNorm();
        seconds += step.seconds();
        dataSeconds += step.dataSeconds();
        steps++;
    }

    /**
     * Returns the mean of the steps since the last call and starts anew.
     *
     * @param last the step taken in last, which gives the counters
     */
    public StepReport mean(StepReport last) {
        checkState(steps > 0, "no step to average");
        losses.replaceAll((name, sum) -> sum / steps);
        figures.replaceAll((name, sum) -> sum / steps);
        StepReport mean =
                new StepReport(
                        last.iteration(),
                        last.iterations(),
                        last.epoch(),
                        last.learningRate(),
                        losses,
                        loss / steps,
                        figures,
                        gradientNorm / steps,
                        seconds / steps,
                        dataSeconds / steps,
                        last.remaining());
        losses.clear();
        figures.clear();
        loss = 0;
        gradientNorm = 0;
        seconds = 0;
        dataSeconds = 0;
        steps = 0;
        return mean;
    }
}
