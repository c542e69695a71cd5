package dev.saccade.cli;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.PixelStatistics;
import dev.saccade.train.config.DataConfig;
import dev.saccade.train.config.RunConfig;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

/** Finds every fault of a data set before anything is trained on it. */
@Command(
        name = "check",
        description = "Find every fault of a data set in one pass.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Exit code 2 if there are errors.",
            "Example:  saccade check configs/retinanet/resnet18_fpn_bccd.yaml --data data/bccd"
        })
final class CheckCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;
    @Mixin private ConfigArguments config;
    @Mixin private JsonOption json;

    @Option(
            names = "--quick",
            description = "Look at the headers of images only, do not decode them.")
    private boolean quick;

    @Override
    public Integer call() {
        Map<String, DatasetReport> reports = check(config.bind(), !quick);
        if (json.wanted()) {
            json.print(spec, reports);
        } else {
            reports.forEach((role, report) -> print(role, report, spec.commandLine().getOut()));
        }
        return hasErrors(reports) ? SaccadeException.Kind.USER.exitCode() : 0;
    }

    /** Checks the data sets of a config, with a progress bar, by their role. */
    static Map<String, DatasetReport> check(RunConfig run, boolean decode) {
        DataConfig data = run.data();
        Map<String, Dataset.Config> roles = new LinkedHashMap<>();
        roles.put("train", data.train());
        data.val().ifPresent(val -> roles.put("val", val));
        ImmutableMap.Builder<String, DatasetReport> reports = ImmutableMap.builder();
        roles.forEach(
                (role, dataset) -> {
                    try (Progress progress = new Progress("check " + role, -1, " photos")) {
                        reports.put(
                                role,
                                dataset.check(
                                        data.root(),
                                        new CheckOptions(
                                                decode,
                                                run.model().head().targets(),
                                                data.workers(),
                                                progress::step)));
                    }
                });
        return withSameClasses(reports.buildOrThrow());
    }

    /** Adds an error where data sets that could be read are labelled with other classes. */
    private static Map<String, DatasetReport> withSameClasses(Map<String, DatasetReport> reports) {
        List<String> trained = reports.get("train").statistics().classNames();
        return ImmutableMap.copyOf(
                Maps.transformEntries(
                        reports,
                        (role, report) ->
                                difference(trained, report.statistics().classNames())
                                        .map(
                                                message ->
                                                        new Finding(
                                                                Finding.Severity.ERROR,
                                                                "data." + role,
                                                                "",
                                                                message))
                                        .map(report::withError)
                                        .orElse(report)));
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

    /** Returns whether a data set has an error. */
    static boolean hasErrors(Map<String, DatasetReport> reports) {
        return reports.values().stream().anyMatch(report -> report.errors() > 0);
    }

    /** Prints what a data set holds and what is wrong with it. */
    static void print(String role, DatasetReport report, PrintWriter out) {
        out.printf("%s: ", role);
        print(report.statistics(), out);
        for (Finding finding : report.findings()) {
            out.printf(
                    "  %-7s %s%n",
                    finding.severity() == Finding.Severity.ERROR ? "ERROR" : "warning", finding);
        }
        int unlisted = report.errors() + report.warnings() - report.findings().size();
        if (unlisted > 0) {
            out.printf("  and %d more%n", unlisted);
        }
        out.printf("  %d errors, %d warnings%n", report.errors(), report.warnings());
        out.flush();
    }

    private static void print(DatasetStatistics statistics, PrintWriter out) {
        if (statistics instanceof ObjectStatistics held) {
            out.printf(
                    "%d photographs (%d without objects), %d objects of %d classes, %d crowds%n",
                    held.photographs(),
                    held.withoutBoxes(),
                    held.boxes(),
                    held.boxesPerClass().size(),
                    held.crowds());
            held.boxesPerClass().forEach((name, n) -> out.printf("  %-24s %8d%n", name, n));
        } else if (statistics instanceof PixelStatistics held) {
            out.printf(
                    "%d label maps, %d pixels of %d classes, %d pixels ignored%n",
                    held.photographs(), held.pixels(), held.classes().size(), held.ignored());
            held.classes()
                    .forEach(
                            (name, shown) ->
                                    out.printf(
                                            Locale.ROOT,
                                            "  %-24s %12d pixels %6.2f %% in %6d photographs%n",
                                            name,
                                            shown.pixels(),
                                            100 * shown.share(),
                                            shown.photographs()));
        }
    }
}
