package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;

import java.util.List;

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

    /** Keeps a copy of the list. */
    public DatasetReport {
        findings = ImmutableList.copyOf(findings);
    }

    /**
     * Returns what a data set holds and all that is wrong with it; nothing is thrown for it. Faults
     * that only its files can tell are found by the check of its {@link Dataset.Config}.
     */
    public static DatasetReport of(Dataset dataset, CheckOptions options) {
        return DatasetCheck.run(dataset, options);
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
