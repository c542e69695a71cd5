package dev.saccade.tune;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.core.Text;
import dev.saccade.report.FactList.Fact;
import dev.saccade.report.LineChart;
import dev.saccade.report.Report;
import dev.saccade.report.Section;
import dev.saccade.report.TextTable;
import dev.saccade.train.config.RunConfig;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Writes {@code trials.jsonl} and {@code report.html} of a search. */
record TuneReport(
        RunConfig config,
        TunePlan plan,
        Jobs jobs,
        Map<Integer, List<JobResult>> results,
        List<Finalist> finalists,
        Optional<Finalist> best,
        List<String> conclusions) {

    private static final String NONE = "";

    /** Writes the files; returns the report. */
    Path write(Path folder) {
        StringBuilder lines = new StringBuilder();
        plan.trials().forEach(trial -> lines.append(TuneJson.line(json(trial))).append('\n'));
        AtomicFile.write(folder.resolve("trials.jsonl"), lines.toString());
        Path file = folder.resolve("report.html");
        new Report(
                        "Hyperparameter search",
                        Text.format(
                                "%s on folds of %s.",
                                plan.rungs().describe(), config.data().root()),
                        headline(),
                        List.of(
                                new Section("Conclusions", NONE, numbered()),
                                new Section("Finalists", finalistsLead(), finalistsTable()),
                                new Section(
                                        "Trials",
                                        "Scores at the end of each rung, on the first fold. The"
                                                + " base config is always promoted.",
                                        trialsTable()),
                                new Section(
                                        "Scores by training time",
                                        plan.trials().get(0).secondsPerStep() > 0
                                                ? "Training time in seconds."
                                                : "Training time in steps.",
                                        chart())))
                .write(file);
        return file;
    }

    private List<Fact> headline() {
        return best.map(
                        chosen ->
                                List.of(
                                        new Fact(
                                                config.monitor(),
                                                Text.format("%.3f", chosen.samples().value()),
                                                "held-out images"),
                                        new Fact(
                                                "selected",
                                                chosen.isBase()
                                                        ? "base config"
                                                        : "trial " + chosen.trial().number())))
                .orElse(List.of());
    }

    private TextTable numbered() {
        return new TextTable(
                List.of("No.", "Conclusion"),
                IntStream.range(0, conclusions.size())
                        .mapToObj(i -> List.of(Integer.toString(i + 1), conclusions.get(i)))
                        .toList());
    }

    private String finalistsLead() {
        return Text.format(
                "%s over held-out images with 95 %% bootstrap intervals over images. A trial is"
                        + " selected only if it is significantly better than the base config; among"
                        + " trials without a significant difference, the fastest one.",
                config.monitor());
    }

    private TextTable finalistsTable() {
        return new TextTable(
                List.of("Trial", "Changes", config.monitor(), "Difference to the base config"),
                finalists.stream()
                        .map(
                                each ->
                                        List.of(
                                                Integer.toString(each.trial().number()),
                                                each.trial().describe(),
                                                Finalist.text(each.samples().interval()),
                                                each.isBase()
                                                        ? NONE
                                                        : each.gain(finalists)
                                                                .map(Finalist::textOfGain)
                                                                .orElse(NONE)))
                        .toList());
    }

    private TextTable trialsTable() {
        List<String> heads = new ArrayList<>(List.of("Trial", "Changes", "Steps"));
        IntStream.rangeClosed(1, plan.rungs().count()).forEach(rung -> heads.add("Rung " + rung));
        heads.add("Seconds, all folds");
        heads.add("Failure");
        return new TextTable(heads, plan.trials().stream().map(this::row).toList());
    }

    private List<JobResult> resultsOf(TunePlan.Trial trial) {
        return results.getOrDefault(trial.number(), List.of());
    }

    private List<String> row(TunePlan.Trial trial) {
        List<JobResult> own = resultsOf(trial);
        int rungs = Math.min(own.size(), plan.rungs().count());
        List<String> row =
                new ArrayList<>(
                        List.of(
                                Integer.toString(trial.number()),
                                trial.describe(),
                                rungs == 0 ? NONE : trial.steps().get(rungs - 1).toString()));
        for (int rung = 0; rung < plan.rungs().count(); rung++) {
            row.add(
                    rung < own.size()
                            ? jobs.score(own.get(rung))
                                    .map(score -> Text.format("%.3f", score))
                                    .orElse("failed")
                            : NONE);
        }
        row.add(Text.format("%.0f", seconds(trial)));
        row.add(failure(trial).orElse(NONE));
        return row;
    }

    private double seconds(TunePlan.Trial trial) {
        return resultsOf(trial).stream().mapToDouble(JobResult::seconds).sum();
    }

    private Optional<String> failure(TunePlan.Trial trial) {
        return trial.failure()
                .or(
                        () ->
                                resultsOf(trial).stream()
                                        .flatMap(each -> each.failure().stream())
                                        .findFirst());
    }

    private LineChart chart() {
        return new LineChart(
                config.monitor(),
                "training time",
                plan.trials().stream()
                        .filter(trial -> plan.rungs().count() > 1 && resultsOf(trial).size() > 1)
                        .map(this::series)
                        .toList());
    }

    private LineChart.Series series(TunePlan.Trial trial) {
        List<JobResult> own = resultsOf(trial);
        int rungs = Math.min(own.size(), plan.rungs().count());
        double perStep = trial.secondsPerStep() > 0 ? trial.secondsPerStep() : 1;
        return LineChart.Series.of(
                trial.number() == 0 ? "base config" : "trial " + trial.number(),
                IntStream.range(0, rungs)
                        .mapToDouble(i -> trial.steps().get(i) * perStep)
                        .toArray(),
                IntStream.range(0, rungs)
                        .mapToDouble(i -> jobs.score(own.get(i)).orElse(Double.NaN))
                        .toArray());
    }

    private Map<String, Object> json(TunePlan.Trial trial) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("trial", trial.number());
        json.put("values", trial.values());
        json.put("overrides", trial.overrides());
        json.put("steps", trial.steps());
        json.put(
                "scores",
                resultsOf(trial).stream()
                        .limit(plan.rungs().count())
                        .map(each -> jobs.score(each).orElse(null))
                        .toList());
        json.put("seconds", seconds(trial));
        json.put("failure", failure(trial).orElse(null));
        for (Finalist finalist : finalists) {
            if (finalist.trial().number() == trial.number()) {
                json.put("pooled", finalist.samples().interval());
                json.put("gain", finalist.gain(finalists).orElse(null));
            }
        }
        json.put("selected", best.filter(each -> each.trial().equals(trial)).isPresent());
        return json;
    }
}
