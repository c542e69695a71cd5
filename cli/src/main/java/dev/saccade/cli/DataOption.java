package dev.saccade.cli;

import dev.saccade.config.ConfigWriter;

import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.Optional;

final class DataOption {

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "Read the data set from this folder; same as --set data.root=DIR.")
    private Optional<Path> root = Optional.empty();

    Optional<Path> root() {
        return root;
    }

    static String override(Path root) {
        return "data.root=" + ConfigWriter.text(root.toString());
    }
}
