package dev.saccade.datasets.check;

import dev.saccade.core.Problems;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.datasets.Finding;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Collects the faults of a data set; counts all and keeps the first 10,000 of each severity. */
public final class Findings implements Reporter {

    private static final int MAX_KEPT = 10_000;
    private static final int MAX_SHOWN = 20;

    private final List<Finding> kept = new ArrayList<>();
    private int errors;
    private int warnings;

    @Override
    public void accept(Finding finding) {
        int sameSeverity = finding.isError() ? ++errors : ++warnings;
        if (sameSeverity <= MAX_KEPT) {
            kept.add(finding);
        }
    }

    /** Reports ids that occur twice; {@code kind} is their type, such as {@code image}. */
    public void requireUnique(String file, String kind, LongStream ids) {
        long[] sorted = ids.sorted().toArray();
        IntStream.range(1, sorted.length)
                .filter(i -> sorted[i] == sorted[i - 1])
                .mapToLong(i -> sorted[i])
                .distinct()
                .forEach(id -> errorAt(file, kind + " " + id, "id occurs twice"));
    }

    public boolean hasErrors() {
        return errors > 0;
    }

    public List<Finding> kept() {
        return List.copyOf(kept);
    }

    /** Returns the first errors, for the message of a data set that cannot be opened. */
    public Problems problems() {
        Problems problems = new Problems();
        kept.stream()
                .filter(Finding::isError)
                .limit(MAX_SHOWN)
                .forEach(finding -> problems.add("%s", finding));
        if (errors > MAX_SHOWN) {
            problems.add("and %d more; check the data set to list them all", errors - MAX_SHOWN);
        }
        return problems;
    }

    public DatasetReport report(DatasetStatistics statistics) {
        return new DatasetReport(statistics, errors, warnings, kept);
    }
}
