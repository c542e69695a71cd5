package dev.saccade.train.data;

import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.check.DatasetCheck;

import java.nio.file.Path;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A data set of a run: one that its config names, or one that a program gives.
 *
 * @param open gives the data set, or throws if it is too faulty
 * @param check gives what it holds and all that is wrong with it, and never throws for that
 */
public record DataSource(Supplier<Dataset> open, Function<CheckOptions, DatasetReport> check) {

    /** Returns the data set of a config whose relative paths start from a folder. */
    public static DataSource of(Dataset.Config config, Path root) {
        return new DataSource(() -> config.open(root), options -> config.check(root, options));
    }

    /** Returns a data set that is there already. */
    public static DataSource of(Dataset dataset) {
        return new DataSource(() -> dataset, options -> DatasetCheck.run(dataset, options));
    }
}
