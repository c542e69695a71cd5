package dev.saccade.cli;

import dev.saccade.config.ConfigWriter;

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

    /** Returns the override of a config that sets the folder of the data set. */
    static String override(Path root) {
        return "data.root=" + ConfigWriter.text(root.toString());
    }
}
