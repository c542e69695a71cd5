package dev.saccade.tune;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.Text;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.bootstrap.Bootstrap;
import dev.saccade.eval.bootstrap.Bootstrap.Interval;
import dev.saccade.train.config.RunConfig;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Searches hyperparameters by successive halving on folds of the training images.
 *
 * <pre>{@code
 * LocalJobs jobs = new LocalJobs(2, 1);
 * TuneSettings settings = TuneSettings.of(TuneBudget.parse("2h"));
 * ConfigNode.Mapping config = ConfigFile.load(Path.of("cells.yaml"), List.of());
 * new Tuner(config, settings, jobs, System.out::println).run(Path.of("runs/tune/cells"), false);
 * }</pre>
 *
 * <p>All state is in the folder. A search that is stopped or killed continues with the same result.
 * Checkpoints of eliminated and evaluated trials are deleted.
 */
public final class Tuner {

    private static final String SOURCE = "tuned";
    private static final String FINAL_BEST = "final_best";
    private static final String FINAL_BASE = "final_base";

    private final ConfigNode.Mapping base;
    private final RunConfig config;
    private final TuneSettings settings;
    private final SearchSpace space;
    private final JobRunner runner;
    private final Consumer<String> progress;

    /**
     * Prepares a search.
     *
     * @param base config of a run; its origins appear as comments in {@code best.yaml}
     * @param progress receives lines for the terminal
     */
    public Tuner(
            ConfigNode.Mapping base,
            TuneSettings settings,
            JobRunner runner,
            Consumer<String> progress) {
        this.base = base;
        this.config = Configs.bind(base, RunConfig.class);
        this.settings = settings;
        this.space = SearchSpace.of(config, settings.search(), settings.fix());
        this.runner = runner;
        this.progress = progress;
        PooledMetric.requireSupported(config);
    }

    /**
     * Runs the search; returns empty if it was stopped.
     *
     * @param folder empty or missing, or with {@code resume} the folder of the same search
     * @throws SaccadeException of kind user, if the folder belongs to another search, the base
     *     config cannot be trained, or the budget is too small
     */
    public Optional<TuneResult> run(Path folder, boolean resume) {
        return run(folder, resume, new TaskMonitor(done -> {}));
    }

    /**
     * Runs the search like {@link #run(Path, boolean)}.
     *
     * @param monitor receives the finished jobs of each rung; cancelling it stops the search
     */
    public Optional<TuneResult> run(Path folder, boolean resume, TaskMonitor monitor) {
        Dataset images = FoldConfigs.images(config).open(config.data().root());
        settings.folds().ifPresent(folds -> FoldConfigs.require(folds, images.size()));
        JobFolder files = SearchFolder.open(folder, resume, config, images, settings);
        Jobs jobs = new Jobs(files, runner, config.monitor(), progress, monitor);
        Path planFile = folder.resolve("plan.json");
        if (!Files.exists(planFile)) {
            Optional<TunePlan> created =
                    new TunePlanner(config, settings, space, images.size(), jobs, progress).plan();
            if (created.isEmpty()) {
                return Optional.empty();
            }
            TuneJson.write(planFile, created.get());
        }
        return new Search(folder, TuneJson.read(planFile, TunePlan.class), jobs).run();
    }

    /** A search with a plan. */
    private final class Search {

        private final Path folder;
        private final TunePlan plan;
        private final Jobs jobs;
        private final FoldConfigs folds;

        /** Results by trial, in the order of the rungs. */
        private final Map<Integer, List<JobResult>> results = new TreeMap<>();

        Search(Path folder, TunePlan plan, Jobs jobs) {
            this.folder = folder;
            this.plan = plan;
            this.jobs = jobs;
            this.folds = new FoldConfigs(plan.rungs().folds(), plan.seed());
        }

        Optional<TuneResult> run() {
            List<TunePlan.Trial> alive =
                    plan.trials().stream().filter(trial -> trial.failure().isEmpty()).toList();
            for (int rung = 0; rung < plan.rungs().count(); rung++) {
                int current = rung;
                Optional<List<JobResult>> done =
                        jobs.run(alive.stream().map(trial -> rungJob(trial, current)).toList());
                if (done.isEmpty()) {
                    return Optional.empty();
                }
                for (int i = 0; i < alive.size(); i++) {
                    results.computeIfAbsent(alive.get(i).number(), each -> new ArrayList<>())
                            .add(done.get().get(i));
                }
                boolean isLast = rung == plan.rungs().count() - 1;
                List<TunePlan.Trial> all = alive;
                alive = promoted(all, isLast ? all.size() : plan.rungs().sizes().get(rung + 1));
                for (TunePlan.Trial trial : all) {
                    jobs.folder().deleteCheckpoints(TrialNames.rung(trial.number(), rung));
                    if (isLast || !alive.contains(trial)) {
                        jobs.folder().deleteCheckpoints(TrialNames.run(trial.number()));
                    }
                }
                write(List.of(), Optional.empty(), List.of());
            }
            return finish(alive);
        }

        private TrainJob rungJob(TunePlan.Trial trial, int rung) {
            return TrainJob.branch(
                    TrialNames.rung(trial.number(), rung),
                    TrialNames.run(trial.number()),
                    folds.holdOut(config(trial), 0),
                    trial.steps().get(rung));
        }

        private RunConfig config(TunePlan.Trial trial) {
            return Configs.bind(tuned(trial), RunConfig.class);
        }

        private ConfigNode.Mapping tuned(TunePlan.Trial trial) {
            return Configs.withOverrides(base, trial.overrides(), SOURCE, RunConfig.class);
        }

        private Optional<Double> lastScore(TunePlan.Trial trial) {
            List<JobResult> all = results.get(trial.number());
            return jobs.score(all.get(all.size() - 1));
        }

        /** Returns the best trials and the base config, in the order of their numbers. */
        private List<TunePlan.Trial> promoted(List<TunePlan.Trial> alive, int count) {
            List<TunePlan.Trial> ranked =
                    alive.stream()
                            .filter(trial -> lastScore(trial).isPresent())
                            .sorted(
                                    Comparator.<TunePlan.Trial>comparingDouble(
                                                    trial -> -lastScore(trial).orElseThrow())
                                            .thenComparingInt(TunePlan.Trial::number))
                            .toList();
            if (ranked.isEmpty()) {
                throw SaccadeException.user(
                        "%s: all trials failed; the first: %s",
                        folder,
                        results.get(alive.get(0).number()).get(0).failure().orElse("no score"));
            }
            return IntStream.range(0, ranked.size())
                    .filter(i -> i < count || ranked.get(i).number() == 0)
                    .mapToObj(ranked::get)
                    .sorted(Comparator.comparingInt(TunePlan.Trial::number))
                    .toList();
        }

        private Optional<TuneResult> finish(List<TunePlan.Trial> last) {
            Optional<List<Finalist>> finalists = finalists(last);
            if (finalists.isEmpty()) {
                return Optional.empty();
            }
            Finalist best = Finalist.select(finalists.get());
            Path yaml = folder.resolve("best.yaml");
            AtomicFile.write(
                    yaml,
                    BestConfig.text(
                            tuned(best.trial()),
                            best,
                            finalists.get(),
                            config.monitor(),
                            stepsOfBase()));
            List<String> conclusions = new ArrayList<>();
            if (Finalist.base(finalists.get()).isEmpty()) {
                conclusions.add(
                        "No trial was compared with the base config, because it failed: "
                                + failureOfBase());
            }
            conclusions.addAll(Conclusions.of(finalists.get(), best, config.monitor(), allFolds()));
            Conclusions.length(best.trial().lastSteps(), stepsOfBase()).ifPresent(conclusions::add);
            if (!plan.rungs().finalRuns()) {
                conclusions.add(
                        config.data().val().isEmpty()
                                ? "Not compared on images that no trial has used, because the"
                                        + " config has no data.val."
                                : "Not compared on data.val.");
            } else if (!compareOnVal(best, conclusions)) {
                return Optional.empty();
            }
            Path report = write(finalists.get(), Optional.of(best), conclusions);
            return Optional.of(new TuneResult(best.trial().number(), yaml, report, conclusions));
        }

        private String failureOfBase() {
            return results.get(0).stream()
                    .flatMap(result -> result.failure().stream())
                    .findFirst()
                    .orElse("no score");
        }

        /** Returns the number of steps of the original config on all of {@code data.train}. */
        private long stepsOfBase() {
            int images = FoldConfigs.images(config).open(config.data().root()).size();
            int batch = config.data().batchSize();
            return config.length((images + batch - 1) / batch, 1).iterations();
        }

        private int allFolds() {
            return plan.rungs().allFolds() ? plan.rungs().folds() : 1;
        }

        /** Trains the trials of the last rung on the other folds; empty if stopped. */
        private Optional<List<Finalist>> finalists(List<TunePlan.Trial> last) {
            List<TrainJob> more = new ArrayList<>();
            for (TunePlan.Trial trial : last) {
                for (int fold = 1; fold < allFolds(); fold++) {
                    more.add(
                            TrainJob.of(
                                    TrialNames.fold(trial.number(), fold),
                                    folds.holdOut(config(trial), fold)));
                }
            }
            Optional<List<JobResult>> done = jobs.run(more);
            if (done.isEmpty()) {
                return Optional.empty();
            }
            for (int i = 0; i < more.size(); i++) {
                results.get(last.get(i / (allFolds() - 1)).number()).add(done.get().get(i));
                jobs.folder().deleteCheckpoints(more.get(i).name());
            }
            PooledMetric pooled = new PooledMetric(config, heldOut());
            List<Finalist> finalists = new ArrayList<>();
            for (TunePlan.Trial trial : last) {
                boolean isComplete =
                        results.get(trial.number()).stream()
                                .allMatch(each -> each.failure().isEmpty());
                if (isComplete) {
                    finalists.add(
                            new Finalist(
                                    trial,
                                    Bootstrap.DEFAULT.sample(pooled.of(predictions(trial)))));
                }
            }
            if (finalists.isEmpty()) {
                throw SaccadeException.user("%s: all trials of the last rung failed", folder);
            }
            return Optional.of(finalists);
        }

        private Dataset heldOut() {
            RunConfig first = folds.holdOut(config, 0);
            Dataset.Config images =
                    plan.rungs().allFolds()
                            ? FoldConfigs.images(config)
                            : first.data().val().orElseThrow();
            return images.open(config.data().root());
        }

        private List<Path> predictions(TunePlan.Trial trial) {
            String last = TrialNames.rung(trial.number(), plan.rungs().count() - 1);
            return Stream.concat(
                            Stream.of(last),
                            IntStream.range(1, allFolds())
                                    .mapToObj(fold -> TrialNames.fold(trial.number(), fold)))
                    .map(jobs.folder()::predictions)
                    .toList();
        }

        /** Trains on all images and compares on {@code data.val}; returns false if stopped. */
        private boolean compareOnVal(Finalist best, List<String> conclusions) {
            List<TrainJob> runs = new ArrayList<>();
            runs.add(TrainJob.last(FINAL_BEST, FoldConfigs.forJob(config(best.trial()))));
            TunePlan.Trial baseTrial = plan.trials().get(0);
            if (!best.isBase()) {
                runs.add(TrainJob.last(FINAL_BASE, FoldConfigs.forJob(config(baseTrial))));
            }
            Optional<List<JobResult>> done = jobs.run(runs);
            if (done.isEmpty()) {
                return false;
            }
            Optional<JobResult> failed =
                    done.get().stream().filter(each -> each.failure().isPresent()).findFirst();
            if (failed.isPresent()) {
                conclusions.add(
                        Text.format(
                                "%s failed: %s",
                                failed.get().name(), failed.get().failure().orElseThrow()));
                return true;
            }
            PooledMetric val =
                    new PooledMetric(
                            config, config.data().val().orElseThrow().open(config.data().root()));
            Bootstrap.Samples ofBest = sample(val, FINAL_BEST);
            conclusions.add(
                    Text.format(
                            "On data.val, which no trial has used, the %s trained on all of"
                                    + " data.train has %s %s.",
                            best.isBase() ? "base config" : "selected config",
                            config.monitor(),
                            Finalist.text(ofBest.interval())));
            if (!best.isBase()) {
                Interval gain = ofBest.minus(sample(val, FINAL_BASE));
                conclusions.add(
                        Text.format(
                                "Gain over the base config on data.val: %s, %s.",
                                Finalist.textOfGain(gain),
                                gain.isSignificant() ? "significant" : "not significant"));
            }
            return true;
        }

        private Bootstrap.Samples sample(PooledMetric metric, String job) {
            return Bootstrap.DEFAULT.sample(metric.of(List.of(jobs.folder().predictions(job))));
        }

        private Path write(
                List<Finalist> finalists, Optional<Finalist> best, List<String> conclusions) {
            return new TuneReport(config, plan, jobs, results, finalists, best, conclusions)
                    .write(folder);
        }
    }
}
