package dev.saccade.cli;

import com.google.common.collect.Maps;

import dev.saccade.core.Devices;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.models.TrainedModel;
import dev.saccade.report.ReportData.DataSummary;
import dev.saccade.report.ReportData.Fact;
import dev.saccade.report.runs.DatasetFacts;
import dev.saccade.report.runs.Latency;
import dev.saccade.report.runs.MetricsFile;
import dev.saccade.report.runs.RunMetrics;
import dev.saccade.report.runs.RunMetrics.Measured;
import dev.saccade.report.runs.RunMetrics.Weights;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Measures the best state of runs for their pages.
 *
 * @param examples how many held-back photographs are shown at most
 * @param loader loads a checkpoint
 * @param onMeasured told of what was measured
 */
record RunMeasurement(
        int examples, Function<Path, TrainedModel<?>> loader, Consumer<Measurement> onMeasured) {

    /** How many held-back photographs are shown where nothing else is said. */
    static final int EXAMPLES = 24;

    /**
     * Measures the best state of a run, or its last if none was the best, and keeps what is known
     * about it. Where nothing was held back, what the data sets hold is kept alone.
     *
     * @param config of the run
     * @param subtitle one sentence about it
     * @param reports what is known about its data sets
     */
    void keep(Path run, RunConfig config, String subtitle, DataReports reports) {
        Map<String, DatasetStatistics> held =
                Maps.transformValues(reports.byRole(), DatasetReport::statistics);
        MetricsFile.write(
                run,
                new RunMetrics(
                        subtitle,
                        new DataSummary(DatasetFacts.facts(held), DatasetFacts.histograms(held)),
                        environment(),
                        config.data()
                                .val()
                                .map(val -> measure(run, config, val.open(config.data().root())))));
    }

    private Measured measure(Path run, RunConfig config, Dataset dataset) {
        Path checkpoint = new RunFolder(run).best();
        try (TrainedModel<?> model = loader.apply(checkpoint)) {
            Weights weights = Weights.of(run, checkpoint, model.parameterCount());
            Measurement measured =
                    Task.of(model)
                            .measure(dataset, MeasurementOptions.ofReport(config))
                            .orElseThrow();
            onMeasured.accept(measured);
            return new Measured(
                    weights,
                    measured.photographsPerSecond(),
                    Latency.of(model, dataset),
                    measured.figures(examples));
        }
    }

    private static List<Fact> environment() {
        return EnvCommand.facts().entrySet().stream()
                .map(fact -> new Fact(fact.getKey(), EnvCommand.text(fact.getValue())))
                .toList();
    }

    /** Returns what measures at the end of a training, and prints tables. */
    static RunMeasurement printing(RunConfig config, PrintWriter out) {
        return new RunMeasurement(
                EXAMPLES,
                file -> TrainedModel.load(file, Devices.here().choose(config.device())),
                measured -> {
                    measured.output().tables().forEach(out::println);
                    out.flush();
                });
    }
}
