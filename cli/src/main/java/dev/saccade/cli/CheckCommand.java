package dev.saccade.cli;

import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.cli.terminal.Progress;
import dev.saccade.configgen.ConfigGenerator;
import dev.saccade.configgen.DatasetContents;
import dev.saccade.configgen.LabeledFolder;
import dev.saccade.configgen.Machine;
import dev.saccade.configgen.StoredPixels;
import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.ChannelStatistics;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.CheckOptions.Depth;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageLabelStatistics;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.PixelStatistics;
import dev.saccade.datasets.convert.LabeledImage;
import dev.saccade.datasets.convert.SourceCheck;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.image.PixelFormat;
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

@Command(
        name = "check",
        description = {
            "Find all errors in the data set of a config or in a folder.",
            "Folders may have COCO annotations, label maps, or labels in YOLO, Pascal"
                    + " VOC, LabelMe, Label Studio, CVAT, Cityscapes and other formats; nothing is converted."
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
    @Mixin private ShortOptions shortOptions;
    @Mixin private JsonOption json;

    @Option(names = "--quick", description = "Read only image headers; do not decode the images.")
    private boolean quick;

    @Override
    public Integer call() {
        Optional<Path> folder = config.folder();
        if (folder.isPresent()) {
            return checkFolder(folder.get());
        }
        config.override(shortOptions);
        DataReports reports = check(config.training(), !quick);
        printReports(reports.byRole());
        if (!json.isSet()) {
            reports.channels().ifPresent(this::print);
        }
        return reports.hasErrors() ? SaccadeException.Kind.USER.exitCode() : 0;
    }

    /** Checks a folder of labeled images without a config; returns the exit code. */
    private int checkFolder(Path folder) {
        Optional<LabeledFolder> found =
                format.value().isPresent() ? Optional.empty() : LabeledFolder.find(folder);
        return found.isPresent()
                ? check(found.get())
                : check(ConvertibleFolder.of(folder, format.value()));
    }

    private int check(LabeledFolder folder) {
        Map<String, DatasetReport> reports;
        try (Progress progress = new Progress("check", -1, " images")) {
            DataReports found =
                    ConfigGenerator.check(
                            folder,
                            contents(folder),
                            Machine.current(),
                            quick ? Depth.HEADERS : Depth.PIXELS,
                            progress::step);
            reports = new LinkedHashMap<>(found.byRole());
        }
        reports.replaceAll(CheckCommand::withDensity);
        boolean isWhole = folder.val().isEmpty() && !folder.hasLabelMaps();
        String command =
                isWhole
                        ? "split it with: " + ConvertibleFolder.splitCommand(folder.root())
                        : "./saccade new " + Printable.shellWord(folder.root());
        return printReports(
                reports,
                (isWhole ? "the data set has no validation set; " : "next:     ") + command,
                "correct the errors, then: " + command);
    }

    private static Optional<DatasetContents> contents(LabeledFolder folder) {
        try {
            return Optional.of(DatasetContents.of(folder, Progress::new));
        } catch (SaccadeException e) {
            // The check reports the errors.
            return Optional.empty();
        }
    }

    private int check(ConvertibleFolder folder) {
        SourceLabels labels = folder.read(this);
        Map<String, DatasetReport> reports = new LinkedHashMap<>();
        PixelFormat pixels = pixels(labels);
        try (Progress progress = new Progress("check", -1, " images")) {
            CheckOptions options =
                    new CheckOptions(
                                    !quick,
                                    TargetKind.BOXES,
                                    Runtime.getRuntime().availableProcessors(),
                                    progress::step)
                            .with(pixels, any -> {});
            SourceCheck.run(folder.path(), labels, options)
                    .forEach(
                            (part, report) ->
                                    reports.put(
                                            part.key(),
                                            DataReports.requireObjects(part.key(), report)));
        }
        reports.replaceAll(CheckCommand::withDensity);
        String command = folder.convertCommand(format.value().isPresent());
        return printReports(
                reports,
                "convert the data set before training: " + command,
                "correct the errors, then convert the data set: " + command);
    }

    private static PixelFormat pixels(SourceLabels labels) {
        List<Path> images =
                labels.withoutFaulty().images().stream()
                        .filter(image -> !image.embedded())
                        .map(LabeledImage::file)
                        .toList();
        return StoredPixels.of(images, Progress::new)
                .map(StoredPixels::format)
                .orElse(PixelFormat.RGB);
    }

    /** Returns the report, with a warning if an image exceeds the default detection limits. */
    private static DatasetReport withDensity(String role, DatasetReport report) {
        int limit = CocoParameters.official(IouType.BOX).maxDetectionLimit();
        return report.statistics() instanceof ObjectStatistics counts
                        && counts.maxObjects().perImage() > limit
                ? report.withWarnings(
                        List.of(
                                Finding.warning(
                                        role,
                                        "",
                                        Text.format(
                                                "an image has %d objects, but the"
                                                        + " default limit on detections and on"
                                                        + " evaluated detections is %d; ./saccade"
                                                        + " new writes a config with higher limits",
                                                counts.maxObjects().perImage(), limit))))
                : report;
    }

    private int printReports(
            Map<String, DatasetReport> reports, String next, String nextWithErrors) {
        printReports(reports);
        boolean hasErrors = reports.values().stream().anyMatch(report -> report.errors() > 0);
        err().println(hasErrors ? nextWithErrors : next);
        return hasErrors ? SaccadeException.Kind.USER.exitCode() : 0;
    }

    private void print(ChannelStatistics channels) {
        out().printf(
                        Locale.ROOT,
                        "values of data.train: {type: normalize, mean: %s, std: %s}%n",
                        rounded(channels.mean()),
                        rounded(channels.std()));
        out().flush();
    }

    private static List<String> rounded(List<Double> values) {
        return values.stream().map(value -> Text.format("%.3f", value)).toList();
    }

    private void printReports(Map<String, DatasetReport> reports) {
        if (json.isSet()) {
            json.print(spec, reports);
        } else {
            reports.forEach((role, report) -> print(role, report, out()));
        }
    }

    static DataReports check(Training training, boolean decode) {
        try (Progress progress = new Progress("check", -1, " images")) {
            return training.check(decode, progress::step);
        }
    }

    /** Checks the data sets of a training run; if there are errors, prints findings and throws. */
    static DataReports requireNoErrors(Training training, PrintWriter err, String fault) {
        DataReports reports = check(training, false);
        if (reports.hasErrors()) {
            reports.byRole().forEach((role, report) -> print(role, report, err));
            throw SaccadeException.user("%s: %s", training.config().data().root(), fault);
        }
        return reports;
    }

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
        if (statistics instanceof ObjectStatistics counts) {
            out.printf(
                    Locale.ROOT,
                    "%s (%d without objects), %s of %s, %s%n",
                    Count.of(counts.images(), "image"),
                    counts.imagesWithoutBoxes(),
                    Count.of(counts.objects().boxes(), "object"),
                    Count.of(counts.boxesPerClass().size(), "class"),
                    Count.of(counts.objects().crowds(), "crowd"));
            counts.boxesPerClass()
                    .forEach((name, n) -> out.println(Printable.format("  %-24s %8d", name, n)));
        } else if (statistics instanceof ImageLabelStatistics counts) {
            out.printf(
                    Locale.ROOT,
                    "%s of %s%n",
                    Count.of(counts.images(), "image"),
                    Count.of(counts.imagesPerClass().size(), "class"));
            counts.imagesPerClass()
                    .forEach((name, n) -> out.println(Printable.format("  %-24s %8d", name, n)));
        } else if (statistics instanceof PixelStatistics counts) {
            out.printf(
                    Locale.ROOT,
                    "%s, %s of %s, %s ignored%n",
                    Count.of(counts.images(), "label map"),
                    Count.of(counts.pixels(), "pixel"),
                    Count.of(counts.classes().size(), "class"),
                    Count.of(counts.ignored(), "pixel"));
            counts.classes()
                    .forEach(
                            (name, shown) ->
                                    out.println(
                                            Printable.format(
                                                    "  %-24s %12d pixels %6.2f %% in"
                                                            + " %6d images",
                                                    name,
                                                    shown.pixels(),
                                                    100 * shown.fraction(),
                                                    shown.images())));
        }
    }
}
