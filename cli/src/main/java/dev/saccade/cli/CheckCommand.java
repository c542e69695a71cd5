package dev.saccade.cli;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.PixelStatistics;
import dev.saccade.train.DataReports;
import dev.saccade.train.Training;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
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
        DataReports reports = check(config.training(), !quick);
        if (json.wanted()) {
            json.print(spec, reports.byRole());
        } else {
            reports.byRole()
                    .forEach((role, report) -> print(role, report, spec.commandLine().getOut()));
        }
        return reports.hasErrors() ? SaccadeException.Kind.USER.exitCode() : 0;
    }

    /** Checks the data sets of a training, with a progress bar. */
    static DataReports check(Training training, boolean decode) {
        try (Progress progress = new Progress("check", -1, " photos")) {
            return training.check(decode, progress::step);
        }
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
        String errors = Count.of(report.errors(), "error");
        out.printf("  %s, %s%n", errors, Count.of(report.warnings(), "warning"));
        out.flush();
    }

    private static void print(DatasetStatistics statistics, PrintWriter out) {
        if (statistics instanceof ObjectStatistics held) {
            out.printf(
                    "%s (%d without objects), %s of %s, %s%n",
                    Count.of(held.photographs(), "photograph"),
                    held.withoutBoxes(),
                    Count.of(held.objects().boxes(), "object"),
                    Count.of(held.boxesPerClass().size(), "class"),
                    Count.of(held.objects().crowds(), "crowd"));
            held.boxesPerClass()
                    .forEach((name, n) -> out.println(Printable.format("  %-24s %8d", name, n)));
        } else if (statistics instanceof PixelStatistics held) {
            out.printf(
                    "%s, %s of %s, %s ignored%n",
                    Count.of(held.photographs(), "label map"),
                    Count.of(held.pixels(), "pixel"),
                    Count.of(held.classes().size(), "class"),
                    Count.of(held.ignored(), "pixel"));
            held.classes()
                    .forEach(
                            (name, shown) ->
                                    out.println(
                                            Printable.format(
                                                    "  %-24s %12d pixels %6.2f %% in %6d"
                                                            + " photographs",
                                                    name,
                                                    shown.pixels(),
                                                    100 * shown.share(),
                                                    shown.photographs())));
        }
    }
}
