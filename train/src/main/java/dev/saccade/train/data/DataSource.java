package dev.saccade.train.data;

import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.check.DatasetCheck;

import java.nio.file.Path;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A data set of a run, from its config or from a program.
 *
 * @param open opens the data set; fails if it is too damaged
 * @param check reports errors in the data instead of failing
 * @param lacksLabels whether images lack labels of some classes
 */
public record DataSource(
        Supplier<Dataset> open, Function<CheckOptions, DatasetReport> check, boolean lacksLabels) {

    public static DataSource of(Dataset.Config config, Path root) {
        return new DataSource(
                () -> config.open(root),
                options -> config.check(root, options),
                config.lacksLabels());
    }

    public static DataSource of(Dataset dataset) {
        return new DataSource(() -> dataset, options -> DatasetCheck.run(dataset, options), false);
    }
}
