package dev.saccade.cli;

import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.cli.terminal.Progress;
import dev.saccade.configgen.ConfigGenerator;
import dev.saccade.configgen.DatasetContents;
import dev.saccade.configgen.LabeledFolder;
import dev.saccade.configgen.Machine;
import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.CheckOptions.Depth;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.PixelStatistics;
import dev.saccade.datasets.convert.SourceCheck;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.IouType;
import dev.saccade.train.Training;
import dev.saccade.train.data.DataReports;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Finds every fault of a data set before anything is trained on it. */
@Command(
        name = "check",
        description = {
            "Find every fault of a data set in one pass: that of a config, or of a folder. Folders"
                    + " may be in COCO's format or have label maps; labels of YOLO, Pascal VOC,"
                    + " LabelMe, CVAT, Cityscapes and the like are checked where they lie."
        },
        footer = {
            "",
            "Exit code 2 if there are errors.",
            "Example:  saccade check configs/retinanet/resnet18_fpn_bccd.yaml --data data/bccd",
            "          saccade check data/bccd",
            "          saccade check birds-yolo"
        })
final class CheckCommand extends BaseCommand {

    @Mixin private ConfigArguments config;
    @Mixin private FormatOption format;
    @Mixin private ShortOptions words;
    @Mixin private JsonOption json;

    @Option(names = "--quick", description = "Read only the headers of images; do not decode them.")
    private boolean quick;

    @Override
    public Integer call() {
        Optional<Path> folder = config.folder();
        if (folder.isPresent()) {
            return checkFolder(folder.get());
        }
        config.override(words);
        DataReports reports = check(config.training(), !quick);
        tell(reports.byRole());
        return reports.hasErrors() ? SaccadeException.Kind.USER.exitCode() : 0;
    }

    /** Checks a folder of labeled photographs for which nobody has written a config. */
    private int checkFolder(Path folder) {
        Optional<LabeledFolder> found =
                format.wanted().isPresent() ? Optional.empty() : LabeledFolder.find(folder);
        return found.isPresent()
                ? check(found.get())
                : check(ConvertibleFolder.of(folder, format.wanted()));
    }

    private int check(LabeledFolder folder) {
        Map<String, DatasetReport> reports;
        try (Progress progress = new Progress("check", -1, " photos")) {
            DataReports found =
                    ConfigGenerator.check(
                            folder,
                            contents(folder),
                            Machine.here(),
                            quick ? Depth.HEADERS : Depth.PIXELS,
                            progress::step);
            reports = new LinkedHashMap<>(found.byRole());
        }
        reports.replaceAll(CheckCommand::withDensity);
        boolean isWhole = folder.val().isEmpty() && !folder.holdsLabelMaps();
        String command =
                isWhole
                        ? "divide it with: " + ConvertibleFolder.divideCommand(folder.root())
                        : "./saccade new " + Printable.shellWord(folder.root());
        return tell(
                reports,
                (isWhole ? "no part of it is set aside to measure on; " : "now try:  ") + command,
                "mend the errors, then: " + command);
    }

    private static Optional<DatasetContents> contents(LabeledFolder folder) {
        try {
            return Optional.of(DatasetContents.of(folder));
        } catch (SaccadeException e) {
            // The check reports all that is wrong with it.
            return Optional.empty();
        }
    }

    private int check(ConvertibleFolder folder) {
        SourceLabels labels = folder.read(this);
        Map<String, DatasetReport> reports = new LinkedHashMap<>();
        try (Progress progress = new Progress("check", -1, " photos")) {
            CheckOptions options =
                    new CheckOptions(
                            !quick,
                            TargetKind.BOXES,
                            Runtime.getRuntime().availableProcessors(),
                            progress::step);
            SourceCheck.run(folder.path(), labels, options)
                    .forEach(
                            (part, report) ->
                                    reports.put(
                                            part.key(),
                                            DataReports.requireObjects(part.key(), report)));
        }
        reports.replaceAll(CheckCommand::withDensity);
        String command = folder.convertCommand(format.wanted().isPresent());
        return tell(
                reports,
                "to train on it, convert it: " + command,
                "mend the errors, then convert it: " + command);
    }

    /** Warns about images with more objects than are detected and evaluated by default. */
    private static DatasetReport withDensity(String role, DatasetReport report) {
        int limit = CocoParameters.official(IouType.BOX).maxDetectionLimit();
        return report.statistics() instanceof ObjectStatistics held
                        && held.maxObjects().perImage() > limit
                ? report.withWarnings(
                        List.of(
                                Finding.warning(
                                        role,
                                        "",
                                        Text.format(
                                                "an image has %d objects, but by default at most %d"
                                                        + " are detected and evaluated; new writes a"
                                                        + " config with higher limits",
                                                held.maxObjects().perImage(), limit))))
                : report;
    }

    private int tell(Map<String, DatasetReport> reports, String next, String nextWithErrors) {
        tell(reports);
        boolean hasErrors = reports.values().stream().anyMatch(report -> report.errors() > 0);
        err().println(hasErrors ? nextWithErrors : next);
        return hasErrors ? SaccadeException.Kind.USER.exitCode() : 0;
    }

    private void tell(Map<String, DatasetReport> reports) {
        if (json.wanted()) {
            json.print(spec, reports);
        } else {
            reports.forEach((role, report) -> print(role, report, out()));
        }
    }

    /** Checks the data sets of a training, with a progress bar. */
    static DataReports check(Training training, boolean decode) {
        try (Progress progress = new Progress("check", -1, " photos")) {
            return training.check(decode, progress::step);
        }
    }

    /** Checks the data sets of a training; prints them and throws if they have errors. */
    static DataReports requireNoErrors(Training training, PrintWriter err, String fault) {
        DataReports reports = check(training, false);
        if (reports.hasErrors()) {
            reports.byRole().forEach((role, report) -> print(role, report, err));
            throw SaccadeException.user("%s: %s", training.config().data().root(), fault);
        }
        return reports;
    }

    /** Prints statistics and findings of a data set. */
    static void print(String role, DatasetReport report, PrintWriter out) {
        out.printf(Locale.ROOT, "%s: ", role);
        print(report.statistics(), out);
        for (Finding finding : report.findings()) {
            out.printf(
                    Locale.ROOT,
                    "  %-7s %s%n",
                    finding.severity() == Finding.Severity.ERROR ? "ERROR" : "warning",
                    finding);
        }
        int unlisted = report.errors() + report.warnings() - report.findings().size();
        if (unlisted > 0) {
            out.printf(Locale.ROOT, "  and %d more%n", unlisted);
        }
        String errors = Count.of(report.errors(), "error");
        out.printf(Locale.ROOT, "  %s, %s%n", errors, Count.of(report.warnings(), "warning"));
        out.flush();
    }

    private static void print(DatasetStatistics statistics, PrintWriter out) {
        if (statistics instanceof ObjectStatistics held) {
            out.printf(
                    Locale.ROOT,
                    "%s (%d without objects), %s of %s, %s%n",
                    Count.of(held.images(), "photograph"),
                    held.imagesWithoutBoxes(),
                    Count.of(held.objects().boxes(), "object"),
                    Count.of(held.boxesPerClass().size(), "class"),
                    Count.of(held.objects().crowds(), "crowd"));
            held.boxesPerClass()
                    .forEach((name, n) -> out.println(Printable.format("  %-24s %8d", name, n)));
        } else if (statistics instanceof PixelStatistics held) {
            out.printf(
                    Locale.ROOT,
                    "%s, %s of %s, %s ignored%n",
                    Count.of(held.images(), "label map"),
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
                                                    100 * shown.fraction(),
                                                    shown.images())));
        }
    }
}
