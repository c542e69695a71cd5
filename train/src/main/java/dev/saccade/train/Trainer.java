package dev.saccade.train;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.base.Preconditions.checkNotNull;

import com.google.common.base.Throwables;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.components.ComponentFailure;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.eval.Evaluation;
import dev.saccade.train.checkpoint.Checkpointables;
import dev.saccade.train.checkpoint.RunCheckpoints;
import dev.saccade.train.checkpoint.RunState;
import dev.saccade.train.config.Interval;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hooks;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;
import dev.saccade.train.schedules.RunLength;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The training loop: steps, evaluations, checkpoints and hooks.
 *
 * <p>The next batch, its augmentation and the learning rate depend only on the step count, so a
 * resumed run continues as if it had not stopped; on CPUs bit for bit.
 */
public final class Trainer implements Run {

    private final RunConfig config;
    private final RunCheckpoints checkpoints;
    private final Checkpointables content;
    private final TrainStep step;
    private final DataLoader<Batch> loader;
    private final Optional<Validation> validation;
    private final BooleanSupplier interrupted;
    private final Hooks logs;
    private final Hooks hooks;
    private final ProcessGroup ranks;
    private final RunLength length;
    private final Map<String, Double> addedMetrics = new LinkedHashMap<>();
    private RunState state;
    private double learningRate;
    private boolean checkpointRequested;
    private Optional<String> stopReason = Optional.empty();
    private double sessionSeconds;
    private long sessionSteps;

    /**
     * Prepares a run.
     *
     * @param logs called after all other hooks
     * @param interrupted whether to interrupt the run; polled between steps and in evaluations
     */
    public Trainer(
            RunConfig config,
            RunCheckpoints checkpoints,
            RunState state,
            TrainStep step,
            DataLoader<Batch> loader,
            Optional<Validation> validation,
            Hooks logs,
            BooleanSupplier interrupted) {
        this.config = config;
        this.checkpoints = checkpoints;
        this.content = checkpoints.content();
        this.state = state;
        this.step = step;
        this.loader = loader;
        this.validation = validation;
        this.interrupted = interrupted;
        this.logs = logs;
        hooks = content.hooks().and(logs);
        ranks = checkpoints.ranks();
        length = config.length(loader.batchesPerEpoch(), ranks.worldSize());
    }

    /** Logs {@code notes}, trains until the end, a stop or an interruption, and saves the state. */
    public Outcome train(List<String> notes) {
        try {
            learningRate = scheduledLearningRate();
            model().train(true);
            TensorMemory.resetPeak(manager().getDevice());
            notes.forEach(this::log);
            stopIfStale();
            hooks.each("beforeTrain", hook -> hook.beforeTrain(this));
            // Fails before the first step if a hook cannot save its state.
            hooks.state();
            Outcome outcome = runEpochs();
            if (outcome == Outcome.INTERRUPTED) {
                checkpoints.saveLast(state);
            }
            hooks.each("afterTrain", hook -> hook.afterTrain(this));
            return outcome;
        } catch (RuntimeException e) {
            throw explain(e);
        }
    }

    private RuntimeException explain(RuntimeException error) {
        Optional<SaccadeException> memory =
                step.failedBatch()
                        .map(batch -> StepMemory.of(this, batch))
                        .flatMap(shortage -> shortage.explain(error, config, this::log));
        Optional<SaccadeException> part = ComponentFailure.of(error);
        if (memory.isPresent() || part.isEmpty()) {
            return memory.map(RuntimeException.class::cast).orElse(error);
        }
        // Show users one line; log the stack trace for the component's author.
        Hooks receivers = ranks.rank() == 0 ? logs : hooks;
        String trace = Throwables.getStackTraceAsString(part.get());
        receivers.each("onLog", hook -> hook.onLog(trace));
        return part.get();
    }

    private Outcome runEpochs() {
        mergeRequests();
        if (state.evaluationDue()) {
            if (!evaluate()) {
                return Outcome.INTERRUPTED;
            }
            checkpoints.saveLast(state);
        }
        while (isRunning()) {
            long stepInEpoch = state.iteration() % length.iterationsPerEpoch();
            if (stepInEpoch == 0) {
                hooks.each("beforeEpoch", hook -> hook.beforeEpoch(this));
                mergeRequests();
            }
            long stepsLeft = length.iterationsPerEpoch() - stepInEpoch;
            int firstBatch = Math.toIntExact(stepInEpoch * config.accumulation());
            try (DataLoader<Batch>.Epoch batches = loader.epoch(epoch(), firstBatch)) {
                while (isRunning() && stepsLeft-- > 0) {
                    runStep(batches);
                    if (!evaluateAndSaveIfDue()) {
                        return Outcome.INTERRUPTED;
                    }
                }
            }
        }
        if (validation.isPresent() && !state.isEvaluated()) {
            state = state.withEvaluationDue();
            if (!evaluate()) {
                return Outcome.INTERRUPTED;
            }
        }
        if (!checkpoints.isSaved(state)) {
            checkpoints.saveLast(state);
        }
        if (isFinished()) {
            return Outcome.FINISHED;
        }
        stopReason.ifPresent(this::log);
        return Outcome.STOPPED_EARLY;
    }

    private boolean isRunning() {
        return !isFinished() && stopReason.isEmpty();
    }

    private boolean isFinished() {
        return state.iteration() >= length.iterations();
    }

    private void runStep(Iterator<Batch> batches) {
        long start = System.nanoTime();
        double waited = loader.waitedSeconds();
        int epoch = epoch();
        learningRate = scheduledLearningRate();
        hooks.each("beforeStep", hook -> hook.beforeStep(this));
        TrainStep.Result result = step.run(batches, state, epoch, learningRate);
        state = state.afterStep(result.scaler());
        double seconds = (System.nanoTime() - start) / 1e9;
        double dataSeconds = loader.waitedSeconds() - waited;
        sessionSeconds += seconds;
        sessionSteps++;
        hooks.each(
                "afterStep",
                hook -> hook.afterStep(this, report(epoch, result, seconds, dataSeconds)));
        addedMetrics.clear();
        if (state.iteration() % length.iterationsPerEpoch() == 0) {
            hooks.each("afterEpoch", hook -> hook.afterEpoch(this));
        }
    }

    private double scheduledLearningRate() {
        double base = config.learningRate(ranks.worldSize());
        double rate =
                config.schedule()
                        .scaled(config.batchFactor(ranks.worldSize()))
                        .learningRate(base, state.iteration(), length);
        if (!isLearningRate(rate)) {
            throw SaccadeException.user(
                    "schedule %s: got learning rate %s for step %d, expected >= 0",
                    config.schedule().type(), rate, state.iteration() + 1);
        }
        return rate;
    }

    private static boolean isLearningRate(double rate) {
        return rate >= 0 && Double.isFinite(rate);
    }

    private StepReport report(
            int epoch, TrainStep.Result result, double seconds, double dataSeconds) {
        Map<String, Double> metrics = new LinkedHashMap<>(result.metrics());
        metrics.putAll(addedMetrics);
        double steps = length.iterations() - state.iteration();
        long remaining = Math.round(1000 * steps * sessionSeconds / sessionSteps);
        return new StepReport(
                state.iteration(),
                length.iterations(),
                epoch,
                learningRate,
                result.losses().values().stream().mapToDouble(mean -> mean).sum(),
                result.losses(),
                metrics,
                result.gradientNorm(),
                seconds,
                dataSeconds,
                Duration.ofMillis(remaining));
    }

    /** Evaluates and saves if this step is due for either; returns false if interrupted. */
    private boolean evaluateAndSaveIfDue() {
        if (config.checkpoint().keepEvery().filter(this::isDue).isPresent()) {
            checkpoints.keepWeights(state, length);
        }
        if (validation.isPresent() && isDue(config.evaluation().every())) {
            state = state.withEvaluationDue();
        }
        if (mergeRequests() || (state.evaluationDue() && !evaluate())) {
            return false;
        }
        if (checkpointRequested || isDue(config.checkpoint().every())) {
            checkpoints.saveLast(state);
            checkpointRequested = false;
        }
        return true;
    }

    private boolean isDue(Interval every) {
        return every.isDue(state.iteration(), length);
    }

    /** Merges the requests of all ranks; returns whether to interrupt the run. */
    private boolean mergeRequests() {
        RunRequests all =
                RunRequests.merged(
                        ranks,
                        new RunRequests(
                                interrupted.getAsBoolean(),
                                state.evaluationDue(),
                                checkpointRequested,
                                stopReason.orElse(null)));
        state = all.evaluate() ? state.withEvaluationDue() : state;
        checkpointRequested = all.save();
        stopReason = Optional.ofNullable(all.stop());
        return all.interrupt();
    }

    /** Evaluates, and saves the weights if they are the best; returns false if interrupted. */
    private boolean evaluate() {
        hooks.each("beforeEvaluation", hook -> hook.beforeEvaluation(this));
        Optional<Evaluation> result =
                ValidationLoop.run(validation.orElseThrow(), content, ranks, interrupted);
        if (result.isPresent()) {
            EvaluationReport report = report(result.get());
            stopIfStale();
            hooks.each("afterEvaluation", hook -> hook.afterEvaluation(this, report));
        } else {
            hooks.each("evaluationInterrupted", hook -> hook.evaluationInterrupted(this));
        }
        mergeRequests();
        return result.isPresent();
    }

    private void stopIfStale() {
        int stale = state.stale();
        if (config.evaluation().patience().filter(limit -> stale >= limit).isPresent()) {
            stop(Count.of(stale, "evaluation") + " without a new best: stopping");
        }
    }

    private EvaluationReport report(Evaluation result) {
        Double monitored = result.values().get(config.monitor());
        if (monitored == null) {
            throw SaccadeException.user(
                    "evaluation.monitor: unknown metric %s; expected one of %s",
                    config.monitor(), result.values().keySet());
        }
        state = state.afterEvaluation(monitored, result.scoreThresholds());
        if (monitored.isNaN()) {
            log(Text.format("%s is NaN, so this evaluation is not the best", config.monitor()));
        }
        if (state.isBest()) {
            checkpoints.saveBest(state);
        }
        return new EvaluationReport(
                state.iteration(),
                epoch(),
                result.values(),
                config.monitor(),
                result.pictures(),
                state.isBest(),
                result.records());
    }

    @Override
    public Module model() {
        return content.model();
    }

    @Override
    public ProcessGroup ranks() {
        return ranks;
    }

    @Override
    public Path folder() {
        return checkpoints.folder().path();
    }

    @Override
    public RunLength length() {
        return length;
    }

    @Override
    public long iteration() {
        return state.iteration();
    }

    @Override
    public double learningRate() {
        return learningRate;
    }

    @Override
    public void setLearningRate(double rate) {
        checkArgument(isLearningRate(rate), "learning rate: got %s, expected >= 0", rate);
        learningRate = rate;
    }

    @Override
    public void addMetric(String name, double value) {
        addedMetrics.put(checkNotNull(name, "metric name is null"), value);
    }

    @Override
    public void requestEvaluation() {
        if (validation.isEmpty()) {
            throw SaccadeException.user(
                    "a hook requested an evaluation, but data.val is missing; add a"
                            + " validation set");
        }
        state = state.withEvaluationDue();
    }

    @Override
    public void requestCheckpoint() {
        checkpointRequested = true;
    }

    @Override
    public void stop(String reason) {
        stopReason = Optional.of(checkNotNull(reason, "reason to stop is null"));
    }

    @Override
    public void log(String line) {
        checkNotNull(line, "log line is null");
        hooks.each("onLog", hook -> hook.onLog(line));
    }
}
