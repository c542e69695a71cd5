package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import java.util.List;
import java.util.stream.Stream;

/**
 * What a data set holds and what is wrong with it.
 *
 * @param statistics what it holds
 * @param errors number of findings of that severity
 * @param warnings number of findings of that severity
 * @param findings the findings, of the annotations and then of the images, in the order of the
 *     file; the first 10,000 of each severity
 */
public record DatasetReport(
        DatasetStatistics statistics, int errors, int warnings, List<Finding> findings) {

    private static final int MAX_TOLD = 20;

    /** Keeps a copy of the list. */
    public DatasetReport {
        findings = ImmutableList.copyOf(findings);
    }

    /**
     * Refuses a data set with errors.
     *
     * @param subject what was to be done with it; the first line of the message
     * @throws SaccadeException of kind user that lists the first of them
     */
    public void requireNoErrors(String subject) {
        Problems problems = new Problems();
        messages(Finding.Severity.ERROR).forEach(line -> problems.add("%s", line));
        problems.throwIfAny(subject);
    }

    /** Returns the first findings of a severity, a line each, and how many there are besides. */
    public List<String> messages(Finding.Severity severity) {
        int all = severity == Finding.Severity.ERROR ? errors : warnings;
        Stream<String> first =
                findings.stream()
                        .filter(finding -> finding.severity() == severity)
                        .limit(MAX_TOLD)
                        .map(Finding::toString);
        Stream<String> others =
                all > MAX_TOLD
                        ? Stream.of(Text.format("and %d more", all - MAX_TOLD))
                        : Stream.of();
        return Stream.concat(first, others).toList();
    }

    /** Returns this report with more warnings, which come first. */
    public DatasetReport withWarnings(List<Finding> more) {
        return new DatasetReport(
                statistics,
                errors,
                warnings + more.size(),
                ImmutableList.<Finding>builder().addAll(more).addAll(findings).build());
    }

    /** Returns this report with one more error, which comes first. */
    public DatasetReport withError(Finding error) {
        return new DatasetReport(
                statistics,
                errors + 1,
                warnings,
                ImmutableList.<Finding>builder().add(error).addAll(findings).build());
    }
}
