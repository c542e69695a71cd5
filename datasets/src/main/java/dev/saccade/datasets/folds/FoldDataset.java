package dev.saccade.datasets.folds;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetSubset;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.check.DatasetCheck;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/** Splits a data set into {@linkplain StratifiedFolds stratified folds} for cross-validation. */
public final class FoldDataset {

    private static final String NAME = "fold";

    public enum Part {
        /** All folds but one. */
        TRAIN,
        /** The fold with the index of the config. */
        VAL
    }

    /**
     * Settings of the wrapped data set and the split.
     *
     * @param folds number of folds
     * @param index fold to hold out, from 0
     */
    @Component(NAME)
    public record Config(
            @Default("{type: coco}") Dataset.Config dataset,
            @Default("5") int folds,
            @Default("0") int index,
            @Default("train") Part part,
            @Default("0") long seed)
            implements Dataset.Config {

        private static final int MAX_FOLDS = 10_000;

        public Config {
            new Checks()
                    .inRange("folds", folds, 2, MAX_FOLDS)
                    .inRange("index", index, 0, folds - 1)
                    .throwIfAny();
            Checks.require(
                    !dataset.repeatsImages(),
                    "dataset",
                    dataset.type(),
                    "a data set without repeated images; wrap fold in this data set instead");
        }

        @Override
        public Dataset open(Path root) {
            Dataset whole = dataset.open(root);
            int[] foldOf = StratifiedFolds.split(whole, folds, seed);
            return DatasetSubset.of(
                    whole,
                    IntStream.range(0, foldOf.length)
                            .filter(i -> (foldOf[i] == index) == (part == Part.VAL))
                            .boxed()
                            .toList());
        }

        /** Checks the label files of the wrapped data set, then the images of this part. */
        @Override
        public DatasetReport check(Path root, CheckOptions options) {
            DatasetReport report = dataset.check(root, options.ofLabelFiles());
            if (report.errors() > 0) {
                return report;
            }
            try {
                return DatasetCheck.run(open(root), options);
            } catch (SaccadeException e) {
                return report.withError(Finding.error(NAME, e));
            }
        }

        @Override
        public boolean lacksLabels() {
            return dataset.lacksLabels();
        }

        @Override
        public List<String> knownClasses() {
            return dataset.knownClasses();
        }
    }

    private FoldDataset() {}
}
