package dev.saccade.configgen;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.datasets.ClassBalancedDataset;
import dev.saccade.datasets.Dataset;

/** Model and classes of a classifier. */
final class ClassifierSettings {

    private ClassifierSettings() {}

    static void addModel(ConfigText text, StartingPoint start, int depth, int images) {
        if (start.initFrom().isEmpty()) {
            text.add(
                    "  backbone: {depth: %d, frozen_stages: -1, zero_init_residual: false}", depth);
        } else {
            text.add(
                    "  backbone: {depth: %d, frozen_stages: %d, norm_eval: true}",
                    depth, StartingPoint.frozenStages(images));
        }
    }

    /** Adds a comment about a class with less than a tenth of the images of the largest. */
    static void describeRareClass(ConfigText text, DatasetContents contents) {
        contents.rareClass()
                .ifPresent(
                        name ->
                                text.add(
                                        "# %s has only %s. To show rare classes more often, use the"
                                                + " commented data.train.",
                                        Printable.line(name),
                                        Count.of(contents.perClass().get(name), "image")));
    }

    /** Adds a commented training set that repeats rare classes, if there are any. */
    static void addBalanced(ConfigText text, DatasetContents contents, Dataset.Config train) {
        if (contents.rareClass().isPresent()) {
            double even = Math.max(0.001, Math.round(100.0 / contents.perClass().size()) / 100.0);
            text.add(
                    "  # train: %s",
                    ConfigGenerator.inline(new ClassBalancedDataset.Config(train, even, true)));
        }
    }
}
