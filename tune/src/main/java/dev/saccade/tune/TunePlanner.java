package dev.saccade.tune;

import static com.google.common.collect.ImmutableMap.toImmutableMap;

import com.google.common.collect.Maps;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.schedules.RunLength;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** Samples the trials of a search, measures their speed, and divides the budget. */
final class TunePlanner {

    /** Least number of steps of a trial in the first rung. */
    private static final int MIN_STEPS = 10;

    private static final int WARM_UP_FRACTION = 4;
    private static final String MEASURE = "measure_";

    private final RunConfig base;
    private final TuneSettings settings;
    private final Jobs jobs;
    private final Consumer<String> progress;
    private final SearchSpace space;
    private final int images;
    private final FoldConfigs folds;
    private final boolean finalRuns;
    private final long start = System.nanoTime();

    TunePlanner(
            RunConfig base,
            TuneSettings settings,
            SearchSpace space,
            int images,
            Jobs jobs,
            Consumer<String> progress) {
        this.base = base;
        this.settings = settings;
        this.jobs = jobs;
        this.progress = progress;
        this.space = space;
        this.images = images;
        this.folds =
                new FoldConfigs(
                        settings.folds().orElse(FoldConfigs.defaultFolds(images)), settings.seed());
        this.finalRuns = settings.finalRuns() && base.data().val().isPresent();
    }

    /** Returns the plan; empty if the jobs were stopped. */
    Optional<TunePlan> plan() {
        progress.accept("search space: " + String.join(", ", space.names()));
        return settings.budget().isTime() ? planTime() : Optional.of(planSteps());
    }

    private TunePlan planSteps() {
        Rungs rungs =
                rungs((double) baseLength().iterations(), 1, 0, 1, settings.budget().amount());
        double length = rungs.length(settings.budget().amount(), 0, 1);
        requireBudget(rungs, settings.budget().amount(), 1, 0, 1);
        return plan(rungs, length, Map.of());
    }

    private Optional<TunePlan> planTime() {
        Optional<List<JobResult>> first =
                jobs.run(List.of(TrainJob.measure(MEASURE + "base", folds.holdOut(base, 0))));
        if (first.isEmpty()) {
            return Optional.empty();
        }
        JobResult measured = first.get().get(0);
        if (measured.failure().isPresent()) {
            throw SaccadeException.user(
                    "the base config cannot be trained: %s", measured.failure().get());
        }
        double perStep = measured.secondsPerStep();
        Rungs rungs =
                rungs(
                        baseLength().iterations() * perStep,
                        perStep,
                        cost(measured),
                        jobs.parallel(),
                        remaining());
        // Trials that differ only in settings without influence on the speed share a measurement.
        Map<Map<String, Choice>, Integer> measuredTrials = new LinkedHashMap<>();
        for (int trial = 0; trial < rungs.sizes().get(0); trial++) {
            measuredTrials.putIfAbsent(speedValues(trial), trial);
        }
        double measuring =
                measured.seconds() * Math.ceil((double) measuredTrials.size() / jobs.parallel());
        requireBudget(rungs, remaining() - measuring, perStep, cost(measured), jobs.parallel());
        Optional<List<JobResult>> all =
                jobs.run(
                        measuredTrials.values().stream()
                                .map(
                                        trial ->
                                                TrainJob.measure(
                                                        TrialNames.of(MEASURE, trial),
                                                        folds.holdOut(config(trial), 0)))
                                .toList());
        return all.map(results -> planTime(rungs, measuredTrials, results));
    }

    private Map<String, Choice> speedValues(int trial) {
        return Maps.filterKeys(
                space.sample(settings.seed(), trial),
                name -> !DefaultDimensions.WITHOUT_COST.contains(name));
    }

    private TunePlan planTime(
            Rungs rungs, Map<Map<String, Choice>, Integer> measuredTrials, List<JobResult> all) {
        Map<Integer, JobResult> byMeasured = new HashMap<>();
        for (int trial : measuredTrials.values()) {
            byMeasured.put(trial, all.get(byMeasured.size()));
        }
        Map<Integer, JobResult> byTrial =
                IntStream.range(0, rungs.sizes().get(0))
                        .boxed()
                        .collect(
                                toImmutableMap(
                                        trial -> trial,
                                        trial ->
                                                byMeasured.get(
                                                        measuredTrials.get(speedValues(trial)))));
        JobResult ofBase = byTrial.get(0);
        if (ofBase.failure().isPresent()) {
            throw SaccadeException.user(
                    "the base config cannot be trained: %s", ofBase.failure().get());
        }
        double cost =
                all.stream()
                        .filter(each -> each.failure().isEmpty())
                        .mapToDouble(this::cost)
                        .average()
                        .orElseThrow();
        double left = remaining();
        requireBudget(rungs, left, ofBase.secondsPerStep(), cost, jobs.parallel());
        return plan(rungs, rungs.length(left, cost, jobs.parallel()), byTrial);
    }

    private double remaining() {
        return settings.budget().amount() - (System.nanoTime() - start) / 1e9;
    }

    /** Returns the time of a job besides training: its start and its evaluation. */
    private double cost(JobResult measured) {
        double steps = JobRun.MEASURED_STEPS * measured.secondsPerStep();
        double evaluation = JobRun.MEASURED_IMAGES * measured.secondsPerImage();
        return Math.max(0, measured.seconds() - steps - evaluation)
                + measured.secondsPerImage() * images / folds.folds();
    }

    private Rungs rungs(
            double baseLength, double perStep, double cost, int parallel, double budget) {
        boolean allFolds = FoldConfigs.isSmall(images);
        return settings.trials()
                .map(n -> Rungs.of(n, folds.folds(), allFolds, finalRuns))
                .orElseGet(
                        () ->
                                Rungs.choose(
                                        budget,
                                        baseLength,
                                        MIN_STEPS * perStep,
                                        cost,
                                        parallel,
                                        folds.folds(),
                                        allFolds,
                                        finalRuns));
    }

    /**
     * Rejects a search if {@code left} of the budget does not suffice for some steps. Empties its
     * folder, because a search cannot continue with another budget.
     */
    private void requireBudget(
            Rungs rungs, double left, double perStep, double cost, int parallel) {
        double least = MIN_STEPS * perStep / rungs.fraction(0);
        double used = settings.budget().amount() - left;
        if (rungs.length(left, cost, parallel) < least) {
            SearchFolder.clear(jobs.folder());
            throw rungs.tooSmall(
                    settings.budget(), used + 1.05 * rungs.total(least, cost, parallel));
        }
    }

    /** Returns the length of the base config on all folds but one. */
    private RunLength baseLength() {
        int train = images - images / folds.folds();
        int batches = (train + base.data().batchSize() - 1) / base.data().batchSize();
        return base.length(batches, 1);
    }

    private RunConfig config(int trial) {
        return base.with(
                space.sample(settings.seed(), trial).values().stream()
                        .flatMap(choice -> choice.overrides().stream())
                        .toArray(String[]::new));
    }

    private TunePlan plan(Rungs rungs, double length, Map<Integer, JobResult> measured) {
        List<TunePlan.Trial> trials = new ArrayList<>();
        for (int number = 0; number < rungs.sizes().get(0); number++) {
            trials.add(trial(rungs, length, number, Optional.ofNullable(measured.get(number))));
        }
        TunePlan plan = new TunePlan(settings.threads(), settings.seed(), rungs, length, trials);
        progress.accept(
                Text.format(
                        "%s on %d folds of %d images; the last rung trains for %s, the base config"
                                + " for %d steps",
                        rungs.describe(),
                        folds.folds(),
                        images,
                        settings.budget().describe(length),
                        trials.get(0).lastSteps()));
        return plan;
    }

    private TunePlan.Trial trial(
            Rungs rungs, double length, int number, Optional<JobResult> measured) {
        Map<String, Choice> values = space.sample(settings.seed(), number);
        double perStep = measured.map(JobResult::secondsPerStep).orElse(1.0);
        Optional<String> failure = measured.flatMap(JobResult::failure);
        List<Long> steps = failure.isPresent() ? rungs.steps(0, 1) : rungs.steps(length, perStep);
        if (failure.isEmpty() && steps.get(0) < MIN_STEPS) {
            failure =
                    Optional.of(
                            Text.format(
                                    "too slow for this budget: %.1f seconds per step", perStep));
        }
        List<String> overrides = new ArrayList<>();
        values.values().forEach(choice -> overrides.addAll(choice.overrides()));
        overrides.add(
                Text.format(
                        "schedule={type: trapezoid, decay: %s, warmup: {iterations: %d, ratio: %s}}",
                        Rungs.DECAY,
                        Math.min(
                                base.schedule().warmupSteps(baseLength()),
                                steps.get(0) / WARM_UP_FRACTION),
                        base.schedule().warmupRatio(base.optimizer().learningRate())));
        if (base.data().numLastEpochs() > 0) {
            // A switch of the transforms would depend on the length of the run.
            overrides.add("data.num_last_epochs=0");
        }
        overrides.add("iterations=" + Math.max(1, steps.get(steps.size() - 1)));
        return new TunePlan.Trial(
                number,
                values.entrySet().stream()
                        .collect(
                                toImmutableMap(Map.Entry::getKey, each -> each.getValue().label())),
                overrides,
                steps,
                measured.isPresent() ? perStep : 0,
                failure);
    }
}
