package dev.saccade.train;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What the data sets of a run hold and what is wrong with them.
 *
 * @param byRole the report of {@code train} and, if the run is measured, of {@code val}
 */
public record DataReports(Map<String, DatasetReport> byRole) {

    private static final int MOST_TOLD = 20;

    /** Keeps a copy of the map. */
    public DataReports {
        byRole = ImmutableMap.copyOf(byRole);
    }

    /**
     * Checks data sets by their role; those labelled with other classes than the first are wrong.
     */
    static DataReports of(Map<String, DataSource> sources, CheckOptions options) {
        ImmutableMap.Builder<String, DatasetReport> reports = ImmutableMap.builder();
        Optional<DatasetReport> first = Optional.empty();
        for (Map.Entry<String, DataSource> source : sources.entrySet()) {
            DatasetReport report = source.getValue().check().apply(options);
            if (first.isEmpty()) {
                first = Optional.of(report);
            }
            String role = source.getKey();
            reports.put(
                    role,
                    difference(
                                    first.get().statistics().classNames(),
                                    report.statistics().classNames())
                            .map(m -> new Finding(Finding.Severity.ERROR, "data." + role, "", m))
                            .map(report::withError)
                            .orElse(report));
        }
        return new DataReports(reports.buildOrThrow());
    }

    private static Optional<String> difference(List<String> trained, List<String> labelled) {
        if (trained.isEmpty() || labelled.isEmpty() || trained.equals(labelled)) {
            return Optional.empty();
        }
        int label = 0;
        while (name(trained, label).equals(name(labelled, label))) {
            label++;
        }
        return Optional.of(
                "class %d is %s, but in data.train it is %s; labels would be mixed up"
                        .formatted(label + 1, name(labelled, label), name(trained, label)));
    }

    private static String name(List<String> classes, int label) {
        return label < classes.size() ? '"' + classes.get(label) + '"' : "not there";
    }

    /** Returns whether a data set has an error; nothing is trained on it then. */
    public boolean hasErrors() {
        return byRole.values().stream().anyMatch(report -> report.errors() > 0);
    }

    /**
     * Refuses data sets with errors.
     *
     * @throws SaccadeException of kind user that lists the first of each
     */
    void requireSound() {
        Problems problems = new Problems();
        byRole.forEach(
                (role, report) ->
                        told(role, report, Finding.Severity.ERROR, report.errors())
                                .forEach(line -> problems.add("%s", line)));
        problems.throwIfAny("the data set has errors; nothing was trained");
    }

    /** Returns the first warnings of each data set, a line each. */
    List<String> warnings() {
        return byRole.entrySet().stream()
                .flatMap(
                        entry ->
                                told(
                                        entry.getKey(),
                                        entry.getValue(),
                                        Finding.Severity.WARNING,
                                        entry.getValue().warnings()))
                .map(line -> "warning: " + line)
                .collect(ImmutableList.toImmutableList());
    }

    private static Stream<String> told(
            String role, DatasetReport report, Finding.Severity severity, int all) {
        Stream<String> first =
                report.findings().stream()
                        .filter(finding -> finding.severity() == severity)
                        .limit(MOST_TOLD)
                        .map(
                                finding ->
                                        finding.file().startsWith("data." + role)
                                                ? finding.toString()
                                                : "data.%s: %s".formatted(role, finding));
        return all <= MOST_TOLD
                ? first
                : Stream.concat(
                        first, Stream.of("data.%s: and %d more".formatted(role, all - MOST_TOLD)));
    }
}
