package dev.saccade.tune;

import dev.saccade.core.Text;
import dev.saccade.eval.bootstrap.Bootstrap.Interval;
import dev.saccade.eval.bootstrap.Bootstrap.Samples;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A trial of the last rung.
 *
 * @param samples the metric over the held-out images of all evaluated folds
 */
record Finalist(TunePlan.Trial trial, Samples samples) {

    boolean isBase() {
        return trial.number() == 0;
    }

    static Optional<Finalist> base(List<Finalist> finalists) {
        return finalists.stream().filter(Finalist::isBase).findFirst();
    }

    /** Returns the difference to the base config; empty without base config. */
    Optional<Interval> gain(List<Finalist> finalists) {
        return base(finalists).map(base -> samples.minus(base.samples));
    }

    /**
     * Selects the config to recommend. Candidates are the trials that are significantly better than
     * the base config (the 95 % interval of the difference is above 0). Among the best candidate
     * and those not significantly worse than it, the one with the fastest training steps wins, on
     * ties the better one. Without candidates, the base config wins.
     */
    static Finalist select(List<Finalist> finalists) {
        Comparator<Finalist> byScore =
                Comparator.<Finalist>comparingDouble(each -> -each.samples.value())
                        .thenComparingInt(each -> each.trial.number());
        List<Finalist> candidates =
                finalists.stream()
                        .filter(
                                each ->
                                        each.gain(finalists)
                                                .map(Interval::isAboveZero)
                                                .orElse(true))
                        .sorted(byScore)
                        .toList();
        if (candidates.isEmpty()) {
            return base(finalists).orElseThrow();
        }
        Finalist best = candidates.get(0);
        return candidates.stream()
                .filter(each -> !best.samples.minus(each.samples).isAboveZero())
                .min(
                        Comparator.<Finalist>comparingDouble(each -> each.trial.secondsPerStep())
                                .thenComparing(byScore))
                .orElseThrow();
    }

    /** Returns a metric with its interval. */
    static String text(Interval metric) {
        return Text.format("%.3f (%.3f to %.3f)", metric.value(), metric.low(), metric.high());
    }

    /** Returns a difference with its interval. */
    static String textOfGain(Interval gain) {
        return Text.format(
                "%+.3f (95 %% interval %+.3f to %+.3f)", gain.value(), gain.low(), gain.high());
    }
}
