package dev.saccade.tune;

import dev.saccade.config.ConfigNode;
import dev.saccade.config.ConfigWriter;
import dev.saccade.core.Text;

import java.util.List;

/** Text of {@code best.yaml}. */
final class BestConfig {

    private BestConfig() {}

    /** Returns a config that can be trained, with the origin of each value in a comment. */
    static String text(
            ConfigNode.Mapping config,
            Finalist best,
            List<Finalist> finalists,
            String metric,
            long stepsOfBase) {
        String held =
                Text.format(
                        "# %s on held-out images of data.train: %s",
                        metric, Finalist.text(best.samples().interval()));
        String gain =
                best.isBase()
                        ? ""
                        : best.gain(finalists)
                                .map(
                                        each ->
                                                "# Difference to the base config: "
                                                        + Finalist.textOfGain(each)
                                                        + "\n")
                                .orElse("");
        String length =
                Conclusions.length(best.trial().lastSteps(), stepsOfBase)
                        .map(sentence -> "# " + sentence + "\n")
                        .orElse("");
        return Text.format(
                        "# Selected by a hyperparameter search: trial %d (%s).\n",
                        best.trial().number(), best.trial().describe())
                + held
                + "\n"
                + gain
                + length
                + "# Comments show the origin of each value; \"tuned\" marks values found by the search.\n"
                + ConfigWriter.yamlWithOrigins(config);
    }
}
