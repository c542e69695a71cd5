package dev.saccade.cli;

import dev.saccade.datasets.convert.ForeignFormat;

import picocli.CommandLine.Option;

import java.util.Iterator;
import java.util.Optional;
import java.util.stream.Stream;

/** The option that says what labels are, where that is not seen. */
final class FormatOption {

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description =
                    "What the labels are, one of ${COMPLETION-CANDIDATES}; seen from the files by"
                            + " default.",
            completionCandidates = Keys.class)
    private Optional<ForeignFormat> wanted = Optional.empty();

    /** What formats are called. */
    static final class Keys implements Iterable<String> {

        @Override
        public Iterator<String> iterator() {
            return Stream.of(ForeignFormat.values()).map(ForeignFormat::key).iterator();
        }
    }

    Optional<ForeignFormat> wanted() {
        return wanted;
    }
}
