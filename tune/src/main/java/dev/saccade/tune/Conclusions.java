package dev.saccade.tune;

import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.eval.bootstrap.Bootstrap.Interval;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Sentences about the finalists of a search. */
final class Conclusions {

    private Conclusions() {}

    static List<String> of(
            List<Finalist> finalists, Finalist best, String metric, int evaluatedFolds) {
        List<String> lines = new ArrayList<>();
        String where =
                Text.format("held-out images of data.train (%s)", Count.of(evaluatedFolds, "fold"));
        if (best.isBase()) {
            lines.add(
                    Text.format(
                            "No trial is significantly better than the base config on %s; the base"
                                    + " config is kept, with the schedule of the search.",
                            where));
        } else {
            lines.add(
                    Text.format(
                            "Selected trial %d (%s): %s %s on %s.",
                            best.trial().number(),
                            best.trial().describe(),
                            metric,
                            Finalist.text(best.samples().interval()),
                            where));
        }
        for (Finalist finalist : finalists) {
            Optional<Interval> gain = finalist.gain(finalists);
            if (!finalist.isBase() && gain.isPresent()) {
                lines.add(
                        Text.format(
                                "Trial %d is %s the base config: %s.",
                                finalist.trial().number(),
                                comparison(gain.get()),
                                Finalist.textOfGain(gain.get())));
            }
        }
        return lines;
    }

    private static String comparison(Interval gain) {
        return gain.isSignificant()
                ? gain.value() > 0 ? "significantly better than" : "significantly worse than"
                : "not significantly different from";
    }

    /** Returns a sentence if the selected config trains for fewer steps than the original one. */
    static Optional<String> length(long steps, long stepsOfBase) {
        return steps < stepsOfBase
                ? Optional.of(
                        Text.format(
                                "All trials, including the base config, were shortened to fit the"
                                        + " budget: best.yaml trains for %d steps, the original"
                                        + " config for %d. To train longer, raise iterations in"
                                        + " best.yaml.",
                                steps, stepsOfBase))
                : Optional.empty();
    }
}
