package dev.saccade.train.extend;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.check.DatasetCheck;
import dev.saccade.datasets.check.SplitComparison;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.checkpoint.RunLayout;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The run whose detector is extended.
 *
 * @param weights its best checkpoint
 * @param steps number of its optimizer steps
 * @param train images to replay; empty if none are replayed
 */
record SourceRun(
        Path folder,
        RunConfig config,
        Path weights,
        long steps,
        Dataset val,
        Optional<Dataset> train) {

    /** Opens a run; throws an exception of kind user if it has no detector or lacks its data. */
    static SourceRun open(Path folder, boolean replays) {
        RunFolder files = new RunFolder(folder);
        files.requireRun();
        RunConfig config = RunConfig.load(files.config());
        requireDetector(folder, config);
        Dataset val = validationSet(folder, config);
        Optional<Dataset> train =
                replays ? Optional.of(ReplayImages.source(folder, config)) : Optional.empty();
        Path weights = files.best();
        return new SourceRun(folder, config, weights, steps(folder, config, weights), val, train);
    }

    private static void requireDetector(Path folder, RunConfig config) {
        TargetKind targets = config.model().head().targets();
        if (!targets.hasObjects() || targets.hasLabelMaps()) {
            throw SaccadeException.user(
                    "%s: only detectors trained on boxes or masks can be extended; train a new run"
                            + " on labels of all classes",
                    folder);
        }
    }

    private static Dataset validationSet(Path folder, RunConfig config) {
        try {
            return DataReports.validationSet(config);
        } catch (SaccadeException e) {
            throw SaccadeException.user(
                    e,
                    "%s: its validation images cannot be evaluated; restore them, or correct data"
                            + " in its config.yaml: %s",
                    folder,
                    e.getMessage());
        }
    }

    private static long steps(Path folder, RunConfig config, Path weights) {
        long perEpoch = RunLayout.of(weights, Checkpoints.open(weights).metadata()).stepsPerEpoch();
        // The config of an extended run has the length of its last training.
        return config.lengthInSteps(perEpoch).iterations()
                * ExtensionReport.read(folder).map(ExtensionReport::trainings).orElse(1);
    }

    /** Throws if the labels of the run have other classes than its detector. */
    void requireClasses(List<String> classes) {
        requireClasses("validation", val, classes);
        train.ifPresent(images -> requireClasses("training", images, classes));
    }

    private void requireClasses(String part, Dataset images, List<String> classes) {
        if (!images.classes().equals(classes)) {
            throw SaccadeException.user(
                    "%s: the %s set has classes %s, but the detector has %s; restore the labels"
                            + " of the run",
                    folder, part, images.classes(), classes);
        }
    }

    /** Returns warnings about validation images that are new training images. */
    List<String> warnings(Dataset newTrain) {
        String trained = "the new training images";
        String evaluated = "the validation set of the run";
        CheckOptions options = DataReports.options(config, false, () -> {});
        SplitComparison comparison = new SplitComparison();
        Map<String, DatasetReport> reports = new LinkedHashMap<>();
        reports.put(trained, DatasetCheck.run(newTrain, options.with(comparison.split(trained))));
        reports.put(
                evaluated,
                DatasetCheck.run(
                        val,
                        options.forEvaluation()
                                .with(
                                        comparison.split(
                                                evaluated,
                                                config.data().val().orElseThrow().lacksLabels()))));
        comparison.complete(reports, role -> role);
        return reports.get(evaluated).messages(Finding.Severity.WARNING);
    }
}
