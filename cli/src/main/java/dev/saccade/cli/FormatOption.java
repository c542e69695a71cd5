package dev.saccade.cli;

import dev.saccade.datasets.convert.formats.SourceFormat;

import picocli.CommandLine.Option;

import java.util.Iterator;
import java.util.Optional;
import java.util.stream.Stream;

final class FormatOption {

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description =
                    "Set the label format, one of ${COMPLETION-CANDIDATES}. Default:"
                            + " detected from the files.",
            completionCandidates = Keys.class)
    private Optional<SourceFormat> requested = Optional.empty();

    static final class Keys implements Iterable<String> {

        @Override
        public Iterator<String> iterator() {
            return Stream.of(SourceFormat.values()).map(SourceFormat::key).iterator();
        }
    }

    Optional<SourceFormat> value() {
        return requested;
    }
}
