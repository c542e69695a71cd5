package dev.saccade.cli;

import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.models.TrainedModel;
import dev.saccade.report.Report;
import dev.saccade.report.runs.MetricsFile;
import dev.saccade.report.runs.RunComparison;
import dev.saccade.report.runs.RunEvaluation;
import dev.saccade.report.runs.RunMetrics;
import dev.saccade.report.runs.RunReport;
import dev.saccade.train.Training;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

@Command(
        name = "report",
        description = {
            "Write the report of a run, finished or still training, or compare several"
                    + " runs in one report.",
            "Evaluates the best checkpoint on the validation set if needed, and stores"
                    + " the results in RUN/report.json."
        },
        footer = {
            "",
            "Example:  saccade report runs/resnet18_fpn_bccd",
            "          saccade report runs/small runs/large --out comparison.html"
        })
final class ReportCommand extends BaseCommand {

    @Mixin private DataOption data;
    @Mixin private ComputeOptions compute;

    @Parameters(arity = "1..*", paramLabel = "RUN", description = "Write the report of these runs.")
    private List<Path> runs;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description =
                    "Write the report to this file, replacing an existing one."
                            + " Default: RUN/report.html, or comparison.html for several runs.")
    private Optional<Path> out = Optional.empty();

    @Option(
            names = "--examples",
            paramLabel = "N",
            description =
                    "Show N validation images; half of them are the worst, and half"
                            + " are evenly spread over the data set. Default: the previous"
                            + " number, or 24.")
    private Optional<Integer> examples = Optional.empty();

    @Option(
            names = "--no-eval",
            description = "Do not evaluate; use the results of the last evaluation, if any.")
    private boolean noEval;

    @Override
    public Integer call() {
        examples.ifPresent(n -> ConfigArguments.requirePositive("--examples", n));
        requireRuns();
        Path file =
                out.orElse(
                        runs.size() == 1
                                ? runs.get(0).resolve("report.html")
                                : Path.of("comparison.html"));
        requirePage(file);
        if (!noEval) {
            runs.forEach(this::evaluate);
        }
        List<RunReport> reports = runs.stream().map(RunReport::read).toList();
        Report page =
                reports.size() == 1 ? reports.get(0).report() : new RunComparison(reports).report();
        page.write(file);
        printMessage("report: %s", file);
        return 0;
    }

    private void requireRuns() {
        Problems problems = new Problems();
        for (Path run : runs) {
            if (!Files.isRegularFile(new RunFolder(run).config())) {
                problems.add("%s: expected the folder of a run with a config.yaml", run);
            }
        }
        problems.throwIfAny("report");
    }

    private static void requirePage(Path file) {
        Path folder = file.toAbsolutePath().getParent();
        if (!file.toString().endsWith(".html") || Files.isDirectory(file)) {
            throw SaccadeException.user("--out %s: expected a file that ends in .html", file);
        }
        if (folder == null || !Files.isDirectory(folder)) {
            throw SaccadeException.user("--out %s: folder %s does not exist", file, folder);
        }
    }

    /** Evaluates a run unless there are metrics of its best checkpoint with enough examples. */
    private void evaluate(Path run) {
        Optional<RunMetrics> kept = MetricsFile.read(run);
        int exampleCount =
                examples.or(() -> shownBefore(kept)).orElse(RunEvaluation.DEFAULT_EXAMPLES);
        RunFolder folder = new RunFolder(run);
        Optional<Path> checkpoint = folder.findBest();
        if (checkpoint.isEmpty()) {
            printMessage("%s: no checkpoint yet; the run is not evaluated", run);
            return;
        }
        if (kept.filter(figures -> figures.matches(checkpoint.get(), exampleCount)).isPresent()) {
            return;
        }
        RunConfig config =
                RunConfig.load(
                        folder.config(),
                        data.root().map(DataOption::override).stream().toArray(String[]::new));
        if (config.data().val().isEmpty()) {
            printMessage("%s: its config has no data.val; the run is not evaluated", run);
            return;
        }
        if (!Files.isDirectory(config.data().root()) && data.root().isEmpty()) {
            printMessage(
                    "%s: folder %s does not exist; the run is not evaluated (set the data set"
                            + " with --data DIR)",
                    run, config.data().root());
            return;
        }
        DataReports reports =
                CheckCommand.requireNoErrors(
                        Training.of(config),
                        err(),
                        "the data set has errors; evaluation did not start");
        String subtitle =
                kept.map(RunMetrics::subtitle).orElseGet(() -> TrainCommand.subtitle(config));
        EvalCommand.forReport(config, exampleCount, this::load, metrics -> {})
                .writeMetrics(run, config, subtitle, reports);
    }

    private TrainedModel<?> load(Path checkpoint) {
        return compute.applyTo(TrainedModel.load(checkpoint, compute.chooseDevice()));
    }

    private static Optional<Integer> shownBefore(Optional<RunMetrics> kept) {
        return kept.flatMap(RunMetrics::checkpoint)
                .map(checkpointMetrics -> checkpointMetrics.task().examples())
                .map(
                        shown ->
                                shown.size() < shown.all()
                                        ? shown.size()
                                        : Math.max(shown.size(), RunEvaluation.DEFAULT_EXAMPLES));
    }
}
