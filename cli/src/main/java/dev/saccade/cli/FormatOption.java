package dev.saccade.cli;

import dev.saccade.datasets.convert.formats.SourceFormat;

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
    private Optional<SourceFormat> wanted = Optional.empty();

    /** What formats are called. */
    static final class Keys implements Iterable<String> {

        @Override
        public Iterator<String> iterator() {
            return Stream.of(SourceFormat.values()).map(SourceFormat::key).iterator();
        }
    }

    Optional<SourceFormat> wanted() {
        return wanted;
    }
}
