package dev.saccade.datasets;

import dev.saccade.core.Problems;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Collects what is wrong with a data set; counts all and keeps the first 10,000 of a severity. */
final class Findings implements Consumer<Finding> {

    private static final int MOST_KEPT = 10_000;
    private static final int MOST_SHOWN = 20;

    private final List<Finding> kept = new ArrayList<>();
    private int errors;
    private int warnings;

    @Override
    public void accept(Finding finding) {
        int alike =
                switch (finding.severity()) {
                    case ERROR -> ++errors;
                    case WARNING -> ++warnings;
                };
        if (alike <= MOST_KEPT) {
            kept.add(finding);
        }
    }

    /** Returns the first of them, for the message of a data set that is not opened. */
    Problems problems() {
        Problems problems = new Problems();
        kept.stream().limit(MOST_SHOWN).forEach(finding -> problems.add("%s", finding));
        if (errors + warnings > MOST_SHOWN) {
            problems.add(
                    "and %d more; `saccade check` lists them all", errors + warnings - MOST_SHOWN);
        }
        return problems;
    }

    /** Returns them with what the data set holds. */
    DatasetReport report(DatasetStatistics statistics) {
        return new DatasetReport(statistics, errors, warnings, kept);
    }
}
