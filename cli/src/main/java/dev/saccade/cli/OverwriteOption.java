package dev.saccade.cli;

import picocli.CommandLine.Option;

/** The option of commands that write a folder. */
final class OverwriteOption {

    @Option(names = "--overwrite", description = "Replace DIR if it is not empty.")
    private boolean overwrite;

    boolean isSet() {
        return overwrite;
    }
}
