package dev.saccade.train.data;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import com.google.common.collect.Sets;

import dev.saccade.core.Count;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.ChannelStatistics;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageLabelStatistics;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.PixelStatistics;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.check.SplitComparison;
import dev.saccade.train.config.RunConfig;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Statistics and errors of the data sets of a run, {@code train} and optionally {@code val}.
 *
 * @param channels statistics of the training images; empty for 8-bit RGB and if not decoded
 */
public record DataReports(Map<String, DatasetReport> byRole, Optional<ChannelStatistics> channels) {

    private static final int MAX_SHOWN = 3;

    public DataReports {
        byRole = ImmutableMap.copyOf(byRole);
    }

    public DataReports(Map<String, DatasetReport> byRole) {
        this(byRole, Optional.empty());
    }

    /** Checks data sets by role, as a run does. {@code train} must precede {@code val}. */
    public static DataReports check(
            Map<String, Dataset.Config> parts, Path root, CheckOptions options) {
        Map<String, DataSource> sources = new LinkedHashMap<>();
        parts.forEach((role, part) -> sources.put(role, DataSource.of(part, root)));
        return check(sources, options, options.transforms());
    }

    /** Checks data sets by role, including that they have the same classes and usable objects. */
    public static DataReports check(
            Map<String, DataSource> sources, CheckOptions options, List<Transform> valTransforms) {
        Map<String, DatasetReport> reports = new LinkedHashMap<>();
        SplitComparison comparison = new SplitComparison();
        Optional<DatasetReport> first = Optional.empty();
        AtomicReference<Optional<ChannelStatistics>> channels =
                new AtomicReference<>(Optional.empty());
        CheckOptions trainOptions =
                options.with(
                        options.pixels(),
                        image ->
                                channels.updateAndGet(
                                        sum -> Optional.of(sum.map(image::plus).orElse(image))));
        for (Map.Entry<String, DataSource> source : sources.entrySet()) {
            String role = source.getKey();
            boolean isTraining = role.equals("train");
            CheckOptions roleOptions =
                    isTraining ? trainOptions : options.forEvaluation().with(valTransforms);
            DatasetReport report =
                    source.getValue()
                            .check()
                            .apply(
                                    roleOptions.with(
                                            comparison.split(
                                                    "data." + role,
                                                    source.getValue().lacksLabels())));
            DatasetStatistics trained = first.orElse(report).statistics();
            Optional<String> fault =
                    difference(trained.classNames(), report.statistics().classNames())
                            .or(() -> missingObjects(report, isTraining));
            reports.put(role, withError(report, "data." + role, fault));
            first = first.or(() -> Optional.of(report));
        }
        comparison.complete(reports, role -> "data." + role);
        return new DataReports(reports, channels.get());
    }

    public static CheckOptions options(RunConfig config, boolean decode, Runnable onImage) {
        return new CheckOptions(decode, config.model().head(), config.data().workers(), onImage)
                .with(config.data().pixels(), any -> {});
    }

    /** Returns the checked validation set of a run. Fails if it is missing or has errors. */
    public static Dataset validationSet(RunConfig config) {
        Optional<Dataset.Config> val = config.data().val();
        if (val.isEmpty()) {
            throw SaccadeException.user(
                    "the run has no validation set; set data.val in its config.yaml");
        }
        return checked("val", val.get(), config, "evaluation");
    }

    /**
     * Returns the checked training set of a run. Fails if it is missing or has errors.
     *
     * @param task name for the message, such as {@code evaluation}
     */
    public static Dataset trainingSet(RunConfig config, String task) {
        return checked("train", config.data().requireTrain(), config, task);
    }

    private static Dataset checked(
            String role, Dataset.Config part, RunConfig config, String task) {
        DataSource source = DataSource.of(part, config.data().root());
        check(Map.of(role, source), options(config, false, () -> {}), List.of())
                .requireNoErrors("the data set has errors; " + task + " did not start");
        return source.open().get();
    }

    /** Returns the report; adds an error if no object can be used to train or evaluate. */
    public static DatasetReport requireObjects(String role, DatasetReport report) {
        return report.statistics() instanceof ObjectStatistics
                ? withError(report, role, missingObjects(report, role.equals("train")))
                : report;
    }

    private static DatasetReport withError(
            DatasetReport report, String subject, Optional<String> fault) {
        return fault.map(text -> new Finding(Finding.Severity.ERROR, subject, "", text))
                .map(report::withError)
                .orElse(report);
    }

    private static Optional<String> missingObjects(DatasetReport report, boolean trained) {
        if (report.errors() > 0) {
            return Optional.empty();
        }
        if (report.statistics() instanceof ImageLabelStatistics labels) {
            return trained ? onlyClass(labels) : Optional.empty();
        }
        if (report.statistics() instanceof PixelStatistics pixels) {
            return trained ? onlyClass(pixels) : Optional.empty();
        }
        ObjectStatistics statistics = (ObjectStatistics) report.statistics();
        if (statistics.objects().usable() == 0) {
            return Optional.of(
                    (trained ? "no objects to train on: " : "no objects to evaluate on: ")
                            + ObjectStatistics.emptyReason(
                                    statistics.images(), statistics.classNames()));
        }
        return trained && statistics.objects().trained() == 0
                ? Optional.of(
                        Text.format(
                                "no objects to train on: all %d objects are on images"
                                        + " with a side below 32 pixels, which are skipped; use"
                                        + " larger images",
                                statistics.objects().usable()))
                : Optional.empty();
    }

    /** Returns an error if the labels of a data set with several classes contain only one. */
    private static Optional<String> onlyClass(PixelStatistics statistics) {
        List<String> shown =
                statistics.classes().entrySet().stream()
                        .filter(entry -> entry.getValue().pixels() > 0)
                        .map(Map.Entry::getKey)
                        .toList();
        return statistics.classes().size() > 1 && shown.size() == 1
                ? Optional.of(
                        Text.format(
                                        "all labeled pixels have the class \"%s\","
                                                + " expected at least two classes",
                                        shown.get(0))
                                + "; see reduce_zero_label and ignore_index")
                : Optional.empty();
    }

    private static Optional<String> onlyClass(ImageLabelStatistics statistics) {
        List<String> shown =
                statistics.imagesPerClass().entrySet().stream()
                        .filter(entry -> entry.getValue() > 0)
                        .map(Map.Entry::getKey)
                        .toList();
        return shown.size() == 1
                ? Optional.of(
                        Text.format(
                                "all images have the class \"%s\", expected at least two classes",
                                shown.get(0)))
                : Optional.empty();
    }

    private static Optional<String> difference(List<String> trained, List<String> labeled) {
        if (trained.isEmpty() || labeled.isEmpty() || trained.equals(labeled)) {
            return Optional.empty();
        }
        Set<String> missing = Sets.difference(Set.copyOf(trained), Set.copyOf(labeled));
        Set<String> added = Sets.difference(Set.copyOf(labeled), Set.copyOf(trained));
        if (!missing.isEmpty() || !added.isEmpty()) {
            List<String> faults = new ArrayList<>();
            if (!missing.isEmpty()) {
                faults.add("lacks " + quoted(trained, missing) + " of data.train");
            }
            if (!added.isEmpty()) {
                faults.add("has " + quoted(labeled, added) + ", which data.train lacks");
            }
            return Optional.of(
                    String.join(" and ", faults) + "; use the same classes in the same order");
        }
        int label = 0;
        while (name(trained, label).equals(name(labeled, label))) {
            label++;
        }
        return Optional.of(
                Text.format(
                        "class %d is %s, but in data.train it is %s; use the same classes"
                                + " in the same order",
                        label + 1, name(labeled, label), name(trained, label)));
    }

    private static String quoted(List<String> classes, Set<String> selected) {
        List<String> names =
                classes.stream().filter(selected::contains).map(name -> '"' + name + '"').toList();
        return (names.size() == 1 ? "the class " : "the classes ") + Count.first(names, MAX_SHOWN);
    }

    private static String name(List<String> classes, int label) {
        return label < classes.size() ? '"' + classes.get(label) + '"' : "missing";
    }

    /** Returns the reports with the warnings of {@link DetectionLimits}. */
    public DataReports withLimits(RunConfig config) {
        return new DataReports(
                ImmutableMap.copyOf(
                        Maps.transformEntries(
                                byRole,
                                (role, report) -> DetectionLimits.check(role, report, config))),
                channels);
    }

    public boolean hasErrors() {
        return byRole.values().stream().anyMatch(report -> report.errors() > 0);
    }

    /**
     * Rejects data sets with errors. The message starts with {@code subject} and lists the first
     * errors.
     */
    public void requireNoErrors(String subject) {
        Problems problems = new Problems();
        lines(Finding.Severity.ERROR).forEach(line -> problems.add("%s", line));
        problems.throwIfAny(subject);
    }

    /** Returns the first warnings of each data set as lines. */
    public List<String> warnings() {
        return lines(Finding.Severity.WARNING).stream().map(line -> "warning: " + line).toList();
    }

    private List<String> lines(Finding.Severity severity) {
        List<String> lines = new ArrayList<>();
        byRole.forEach(
                (role, report) -> {
                    String subject = "data." + role;
                    for (String line : report.messages(severity)) {
                        lines.add(line.startsWith(subject) ? line : subject + ": " + line);
                    }
                });
        return lines;
    }
}
