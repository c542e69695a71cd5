package dev.saccade.cli;

import com.google.common.collect.ImmutableSet;

import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.cli.terminal.Progress;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.MetricReport;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.eval.results.ResultsEvaluation;
import dev.saccade.models.TrainedModel;
import dev.saccade.report.runs.ModelEvaluation;
import dev.saccade.report.runs.RunEvaluation;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

@Command(
        name = "eval",
        description = {
            "Evaluate a trained model: COCO AP of a detector, mIoU of a segmenter, top-1"
                    + " accuracy of a classifier.",
            "With --annotations instead of RUN, evaluate the results of any tool: a"
                    + " file in COCO's results format, or a folder of label maps."
        },
        footer = {
            "",
            "Example:  saccade eval runs/resnet18_fpn_bccd --data data/bccd",
            "          saccade eval runs/resnet18_fpn_bccd --nproc 4",
            "          saccade eval --results results.json --annotations instances.json",
            "          saccade eval --results found/labels --annotations data/annotations/val"
        })
final class EvalCommand extends BaseCommand {

    private static final String EXPECTED =
            "expected a RUN, or --results and --annotations to evaluate the results of"
                    + " any tool";

    /** Options that do not need a model. */
    private static final Set<String> RESULT_OPTIONS =
            ImmutableSet.of(
                    "--results",
                    "--annotations",
                    "--max-dets",
                    "--score",
                    "--box-areas",
                    "--reduce-zero-label",
                    "--json");

    @Mixin private DataOption data;
    @Mixin private TtaOptions tta;
    @Mixin private ComputeOptions compute;
    @Mixin private RankOptions ranks;
    @Mixin private JsonOption json;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "RUN",
            description = "Evaluate this checkpoint, or the best checkpoint of this run.")
    private Optional<Path> named = Optional.empty();

    @Option(
            names = "--results",
            paramLabel = "PATH",
            description = {
                "With RUN, write detections in COCO's results format to PATH.bbox.json"
                        + " (boxes) and PATH.segm.json (masks).",
                "With --annotations, evaluate these results."
            })
    private Optional<Path> results = Optional.empty();

    @Option(
            names = "--annotations",
            paramLabel = "PATH",
            description =
                    "Evaluate --results with these labels: a COCO annotation file for"
                            + " a results file, or a folder of label maps for a folder.")
    private Optional<Path> annotations = Optional.empty();

    @Option(
            names = "--max-dets",
            paramLabel = "N",
            split = ",",
            description =
                    "Set the limits on evaluated detections per image and class"
                            + " (pycocotools' maxDets), such as 1,10,500. AP uses the largest."
                            + " Default: the limits of the run, or 1,10,100.")
    private List<Integer> maxDets = new ArrayList<>();

    @Option(
            names = "--reduce-zero-label",
            negatable = true,
            description =
                    "Treat 0 in the label maps of --annotations as unlabeled. Default:"
                            + " yes if the results never contain 0.")
    private Optional<Boolean> reduceZeroLabel = Optional.empty();

    @Option(
            names = "--score",
            paramLabel = "S",
            defaultValue = "0.3",
            description =
                    "Use detections with at least this score for the confusion matrix."
                            + " Default: ${DEFAULT-VALUE}.")
    private double score;

    @Option(
            names = "--box-areas",
            description =
                    "Assign masks to small, medium and large by the area of their"
                            + " boxes, as mmdetection did before 2.12.")
    private boolean boxAreas;

    @Override
    public Integer call() {
        ConfigArguments.requireFraction("--score", score);
        requireLimits();
        if (annotations.isPresent()) {
            requireNoModel();
            report(results().evaluate());
            return 0;
        }
        if (named.isEmpty() || reduceZeroLabel.isPresent()) {
            throw SaccadeException.user(
                    "%s", named.isEmpty() ? EXPECTED : "--reduce-zero-label needs --annotations");
        }
        results.ifPresent(EvalCommand::requireFolder);
        if (ranks.isLauncher()) {
            return ranks.start(spec);
        }
        return ranks.run(group -> evaluateRun());
    }

    private void requireLimits() {
        if (!maxDets.isEmpty()) {
            try {
                new DetectionEvaluator.Config(IouType.MASK, maxDets);
            } catch (IllegalArgumentException e) {
                throw SaccadeException.user("--max-dets: %s", e.getMessage());
            }
        }
    }

    /** Rejects options that need a model; requires {@code --results}. */
    private void requireNoModel() {
        Problems problems = new Problems();
        if (named.isPresent()) {
            problems.add("got RUN %s and --annotations; expected one of them", named.get());
        }
        if (results.isEmpty()) {
            problems.add("--annotations needs --results, the file or folder to evaluate");
        }
        for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
            if (!RESULT_OPTIONS.contains(option.longestName())) {
                problems.add("%s needs a RUN", option.longestName());
            }
        }
        problems.throwIfAny("eval");
    }

    private ResultsEvaluation results() {
        return new ResultsEvaluation(
                results.orElseThrow(),
                annotations.orElseThrow(),
                new DetectionEvaluator.Config(
                        boxAreas ? IouType.BOX : IouType.MASK,
                        maxDets.isEmpty() ? CocoParameters.OFFICIAL_LIMITS : maxDets),
                score,
                reduceZeroLabel);
    }

    private int evaluateRun() {
        RunArgument run = RunArgument.of(named.orElseThrow());
        Path checkpoint = run.checkpoint();
        RunConfig config = run.config(data.root());
        Dataset dataset = DataReports.validationSet(config);
        ModelEvaluation.Settings settings =
                new ModelEvaluation.Settings(
                        config.evaluators(),
                        config.data().workers(),
                        score,
                        boxAreas,
                        Optional.of(maxDets).filter(limits -> !limits.isEmpty()),
                        results);
        try (TrainedModel<?> model = tta.loadForEvaluation(checkpoint, compute)) {
            run.requireOptionsFor(model, spec, "--results", "--score", "--box-areas", "--max-dets");
            Optional<ModelEvaluation> evaluation = evaluate(model, dataset, settings);
            if (evaluation.isPresent()) {
                tta.note(model.spec().tta()).ifPresent(this::note);
                report(evaluation.get().metrics());
            }
        }
        return 0;
    }

    /** Evaluates a model with a progress bar; returns empty except in rank 0. */
    static Optional<ModelEvaluation> evaluate(
            TrainedModel<?> model, Dataset dataset, ModelEvaluation.Settings settings) {
        DatasetInference inference =
                new DatasetInference(dataset, settings.workers(), ProcessGroup.current());
        try (Progress progress =
                new Progress(RankOptions.ofRank("evaluate"), inference.size(), " images")) {
            return ModelEvaluation.run(model, dataset, inference, settings, progress::to);
        }
    }

    /** Prepares an evaluation for a report; {@code onEvaluated} receives the metrics. */
    static RunEvaluation forReport(
            RunConfig config,
            int examples,
            Function<Path, TrainedModel<?>> loader,
            Consumer<MetricReport> onEvaluated) {
        ModelEvaluation.Settings settings =
                ModelEvaluation.Settings.forReport(config.evaluators(), config.data().workers());
        return new RunEvaluation(
                examples,
                loader,
                (model, dataset) -> {
                    ModelEvaluation evaluation = evaluate(model, dataset, settings).orElseThrow();
                    onEvaluated.accept(evaluation.metrics());
                    return evaluation;
                });
    }

    private static void requireFolder(Path prefix) {
        Path folder = prefix.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw SaccadeException.user(
                    "--results: got %s, expected a prefix in an existing folder", prefix);
        }
    }

    private void report(MetricReport evaluationReport) {
        evaluationReport.notes().forEach(this::note);
        if (json.isSet()) {
            json.print(spec, evaluationReport.json());
            return;
        }
        PrintWriter out = out();
        evaluationReport.tables().forEach(out::println);
        evaluationReport.details().forEach(out::println);
    }

    private void note(String text) {
        printMessage("note: %s", text);
    }
}
