package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import java.util.List;
import java.util.stream.Stream;

/**
 * Content and faults of a data set.
 *
 * @param findings the first 10,000 of each severity; {@code errors} and {@code warnings} count all
 */
public record DatasetReport(
        DatasetStatistics statistics, int errors, int warnings, List<Finding> findings) {

    private static final int MAX_SHOWN = 20;

    public DatasetReport {
        findings = ImmutableList.copyOf(findings);
    }

    /**
     * Throws if the data set has errors.
     *
     * @param subject first line of the message, such as "training did not start"
     * @throws SaccadeException of kind user that lists the first errors
     */
    public void requireNoErrors(String subject) {
        Problems problems = new Problems();
        messages(Finding.Severity.ERROR).forEach(line -> problems.add("%s", line));
        problems.throwIfAny(subject);
    }

    /** Returns the first 20 findings of a severity as lines, and a line that counts the rest. */
    public List<String> messages(Finding.Severity severity) {
        int all = severity == Finding.Severity.ERROR ? errors : warnings;
        Stream<String> first =
                findings.stream()
                        .filter(finding -> finding.severity() == severity)
                        .limit(MAX_SHOWN)
                        .map(Finding::toString);
        Stream<String> others =
                all > MAX_SHOWN
                        ? Stream.of(Text.format("and %d more", all - MAX_SHOWN))
                        : Stream.of();
        return Stream.concat(first, others).toList();
    }

    public DatasetReport withWarnings(List<Finding> more) {
        return new DatasetReport(
                statistics,
                errors,
                warnings + more.size(),
                ImmutableList.<Finding>builder().addAll(more).addAll(findings).build());
    }

    public DatasetReport withError(Finding error) {
        return new DatasetReport(
                statistics,
                errors + 1,
                warnings,
                ImmutableList.<Finding>builder().add(error).addAll(findings).build());
    }
}
