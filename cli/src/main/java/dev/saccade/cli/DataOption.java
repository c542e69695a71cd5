package dev.saccade.cli;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Dataset;
import dev.saccade.models.config.ConfigWriter;

import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.Optional;

/** The option that says where the data is. */
final class DataOption {

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "The folder of the data set; short for --set data.root=DIR.")
    private Optional<Path> root = Optional.empty();

    Optional<Path> root() {
        return root;
    }

    /**
     * Opens a data set.
     *
     * @throws SaccadeException if it is faulty; where there is no folder of data at all, says so
     */
    static Dataset open(Dataset.Config dataset, Path root) {
        try {
            return dataset.open(root);
        } catch (SaccadeException e) {
            requireFolder(root);
            throw e;
        }
    }

    /** Refuses a place that is none for data, which explains why none of their files is found. */
    static void requireFolder(Path root) {
        PathKind.require(
                root,
                "the folder of the data set; name it with --data DIR",
                PathKind.PHOTOGRAPHS,
                PathKind.OTHER_FOLDER,
                PathKind.RUN,
                PathKind.RUNS,
                PathKind.CHECKPOINTS);
    }

    /** Returns the override of a config that sets the folder of the data set. */
    static String override(Path root) {
        return "data.root=" + ConfigWriter.text(root.toString());
    }
}
