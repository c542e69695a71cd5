package dev.saccade.train;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.base.Preconditions.checkNotNull;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Parameter;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.eval.Evaluation;
import dev.saccade.eval.EvaluationInterrupted;
import dev.saccade.train.config.CheckpointConfig;
import dev.saccade.train.config.Interval;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EarlyStopping;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hooks;
import dev.saccade.train.hooks.LogVars;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;
import dev.saccade.train.hooks.StepTime;
import dev.saccade.train.optimizers.ModelEma;
import dev.saccade.train.optimizers.Optimizer;
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
 * The loop: steps, evaluations and checkpoints until a run is over, and hooks around them.
 *
 * <p>Which batch comes next, its augmentation and its learning rate are functions of the number of
 * steps taken, so a run that is resumed, in the middle of an epoch too, goes on as if it had never
 * stopped; on CPUs bit by bit.
 */
public final class Trainer implements Run {

    /**
     * What a trainer works with.
     *
     * @param model the module whose parameters are learned
     * @param losses runs it on a batch
     * @param optimizer changes its parameters
     * @param ema averages of its parameters, which are measured in their place
     * @param loader gives the batches
     * @param validation measures it, if it is measured
     * @param ranks take the run together; each has all of this of its own, and rank 0 writes
     */
    public record Setup(
            Module model,
            BatchLosses losses,
            Optimizer optimizer,
            Optional<ModelEma> ema,
            DataLoader<Batch> loader,
            Optional<Validation> validation,
            ProcessGroup ranks) {}

    private final Setup setup;
    private final RunConfig config;
    private final RunCheckpoints checkpoints;
    private final Hooks hooks;
    private final RunLength length;
    private final TrainStep step;
    private final Map<String, Double> addedMetrics = new LinkedHashMap<>();
    private RunState state;
    private double learningRate;
    private boolean checkpointRequested;
    private Optional<String> stopReason = Optional.empty();
    private BooleanSupplier interrupted = () -> false;
    private double sessionSeconds;
    private long sessionSteps;

    /**
     * Prepares a run.
     *
     * @param state where it begins; what {@link RunCheckpoints#resume} returned, or {@link
     *     RunState#START}
     */
    public Trainer(
            Setup setup,
            RunConfig config,
            RunCheckpoints checkpoints,
            RunState state,
            Hooks hooks) {
        this.setup = setup;
        this.config = config;
        this.checkpoints = checkpoints;
        this.state = state;
        this.hooks = new Hooks(earlyStopping(config, state).stream().toList()).and(hooks);
        length = config.length(setup.loader.batchesPerEpoch(), setup.ranks.worldSize());
        step = new TrainStep(setup.losses, setup.optimizer, setup.ema, config, setup.ranks);
    }

    private static Optional<EarlyStopping> earlyStopping(RunConfig config, RunState state) {
        return config.evaluation()
                .patience()
                .map(patience -> new EarlyStopping(patience, state.stale()));
    }

    /**
     * Runs to the end, or until it is stopped or interrupted; the last state is saved either way.
     *
     * @param interrupted asked after each step, and during evaluations, whether to end the run; it
     *     can be resumed then
     * @throws SaccadeException if a loss is not finite, a file cannot be read or written, or a hook
     *     fails
     */
    public Outcome train(BooleanSupplier interrupted) {
        this.interrupted = interrupted;
        learningRate = scheduledLearningRate();
        setup.model.train(true);
        TensorMemory.restart(manager().getDevice());
        hooks.beforeTrain(this);
        // What cannot be saved is told before the first step, not at the first save.
        hooks.state();
        Outcome outcome = takeSteps();
        if (outcome == Outcome.INTERRUPTED) {
            checkpoints.saveLast(state);
        }
        hooks.afterTrain(this);
        return outcome;
    }

    private Outcome takeSteps() {
        agree();
        if (state.evaluationDue()) {
            if (!evaluate()) {
                return Outcome.INTERRUPTED;
            }
            checkpoints.saveLast(state);
        }
        while (isUnderWay()) {
            long stepInEpoch = state.iteration() % length.iterationsPerEpoch();
            if (stepInEpoch == 0) {
                hooks.beforeEpoch(this);
                agree();
            }
            long stepsLeft = length.iterationsPerEpoch() - stepInEpoch;
            int firstBatch = Math.toIntExact(stepInEpoch * config.accumulation());
            try (DataLoader<Batch>.Epoch batches = setup.loader.epoch(epoch(), firstBatch)) {
                while (isUnderWay() && stepsLeft-- > 0) {
                    step(batches);
                    if (!doWhatIsDue()) {
                        return Outcome.INTERRUPTED;
                    }
                }
            }
        }
        if (!settle()) {
            return Outcome.INTERRUPTED;
        }
        if (isOver()) {
            return Outcome.FINISHED;
        }
        stopReason.ifPresent(this::note);
        return Outcome.STOPPED_EARLY;
    }

    /** Evaluates and saves the end of the run; returns false if interrupted. */
    private boolean settle() {
        if (setup.validation.isPresent() && !state.isEvaluated()) {
            state = state.withEvaluationDue();
            if (!evaluate()) {
                return false;
            }
        }
        if (!checkpoints.isSaved(state)) {
            checkpoints.saveLast(state);
        }
        return true;
    }

    private boolean isUnderWay() {
        return !isOver() && stopReason.isEmpty();
    }

    private boolean isOver() {
        return state.iteration() >= length.iterations();
    }

    /** Takes a step and reports it. */
    private void step(Iterator<Batch> batches) {
        long start = System.nanoTime();
        double waited = setup.loader.waitedSeconds();
        int epoch = epoch();
        learningRate = scheduledLearningRate();
        hooks.beforeStep(this);
        TrainStep.Result taken = step.take(batches, state, epoch, learningRate);
        state = state.afterStep(taken.images(), taken.scaler());
        StepTime time = time(start, waited);
        hooks.afterStep(this, () -> report(epoch, taken.logVars(), time));
        addedMetrics.clear();
        if (state.iteration() % length.iterationsPerEpoch() == 0) {
            hooks.afterEpoch(this);
        }
    }

    /** Returns what the step that has failed was computing on, if it was a step that failed. */
    Optional<TrainStep.Pixels> failedOn() {
        return step.underWay();
    }

    private double scheduledLearningRate() {
        double rate =
                config.schedule()
                        .learningRate(
                                config.learningRate(setup.ranks.worldSize()),
                                state.iteration(),
                                length);
        if (!isLearningRate(rate)) {
            throw SaccadeException.user(
                    "schedule %s: gives a learning rate of %s for step %d, expected >= 0",
                    config.schedule().type(), rate, state.iteration() + 1);
        }
        return rate;
    }

    private static boolean isLearningRate(double rate) {
        return rate >= 0 && Double.isFinite(rate);
    }

    private StepTime time(long start, double waitedBefore) {
        double seconds = (System.nanoTime() - start) / 1e9;
        double dataSeconds = setup.loader.waitedSeconds() - waitedBefore;
        sessionSeconds += seconds;
        sessionSteps++;
        double steps = length.iterations() - state.iteration();
        long remaining = Math.round(1000 * steps * sessionSeconds / sessionSteps);
        return new StepTime(seconds, dataSeconds, Duration.ofMillis(remaining));
    }

    private StepReport report(int epoch, LogVars learned, StepTime time) {
        Map<String, Double> metrics = new LinkedHashMap<>(learned.metrics());
        metrics.putAll(addedMetrics);
        return new StepReport(
                state.iteration(),
                length.iterations(),
                epoch,
                learningRate,
                new LogVars(learned.loss(), learned.losses(), metrics, learned.gradientNorm()),
                time);
    }

    /** Saves and evaluates where it is time after a step; returns false if interrupted. */
    private boolean doWhatIsDue() {
        CheckpointConfig saving = config.checkpoint();
        if (saving.keepEvery().filter(this::isDue).isPresent()) {
            checkpoints.keepWeights(state, length);
        }
        if (setup.validation.isPresent() && isDue(config.evaluation().every())) {
            state = state.withEvaluationDue();
        }
        if (agree() || (state.evaluationDue() && !evaluate())) {
            return false;
        }
        if (checkpointRequested || isDue(saving.every())) {
            checkpoints.saveLast(state);
            checkpointRequested = false;
        }
        return true;
    }

    /** Does on all ranks what is asked for on one; returns whether to interrupt the run. */
    private boolean agree() {
        boolean wanted = interrupted.getAsBoolean();
        if (setup.ranks.worldSize() == 1) {
            return wanted;
        }
        Requests all =
                new Requests(wanted, state.evaluationDue(), checkpointRequested, stopReason)
                        .or(setup.ranks);
        state = all.evaluation() ? state.withEvaluationDue() : state;
        checkpointRequested = all.checkpoint();
        stopReason = all.stop();
        return all.interruption();
    }

    private boolean isDue(Interval every) {
        return every.isDue(state.iteration(), length);
    }

    /** Evaluates and keeps the best; returns false if interrupted, which leaves it to do. */
    private boolean evaluate() {
        hooks.beforeEvaluation(this);
        Optional<EvaluationReport> report = measure();
        report.ifPresentOrElse(
                measured -> hooks.afterEvaluation(this, measured),
                () -> hooks.evaluationInterrupted(this));
        agree();
        return report.isPresent();
    }

    private Optional<EvaluationReport> measure() {
        Evaluation result;
        try {
            result = setup.ema.isPresent() ? setup.ema.get().during(this::validate) : validate();
        } catch (EvaluationInterrupted e) {
            return Optional.empty();
        }
        double monitored = monitored(result);
        state = state.afterEvaluation(monitored, result.scoreThresholds());
        if (Double.isNaN(monitored)) {
            note(Text.format("%s is NaN, which is never the best", config.monitor()));
        }
        if (state.isBest()) {
            checkpoints.saveBest(state);
        }
        return Optional.of(
                new EvaluationReport(
                        state.iteration(),
                        epoch(),
                        result.values(),
                        config.monitor(),
                        result.pictures(),
                        state.isBest()));
    }

    private Evaluation validate() {
        Validation validation = setup.validation.orElseThrow();
        shareStatistics();
        setup.model.train(false);
        try {
            return NoGrad.call(() -> validation.run(this::throwIfInterrupted));
        } finally {
            setup.model.train(true);
        }
    }

    /** Running statistics are of what each rank has seen; as in PyTorch, those of rank 0 count. */
    private void shareStatistics() {
        List<NDArray> buffers =
                setup.model.namedParameters().values().stream()
                        .filter(Module::isBuffer)
                        .map(Parameter::getArray)
                        .toList();
        setup.ranks.broadcast(buffers, 0);
    }

    private void throwIfInterrupted() {
        if (interrupted.getAsBoolean()) {
            throw new EvaluationInterrupted();
        }
    }

    private double monitored(Evaluation result) {
        Double value = result.values().get(config.monitor());
        if (value == null) {
            throw SaccadeException.user(
                    "evaluation.monitor: there is no metric %s; expected one of %s",
                    config.monitor(), result.values().keySet());
        }
        return value;
    }

    @Override
    public Module model() {
        return setup.model;
    }

    @Override
    public NDManager manager() {
        return setup.model.namedParameters().values().iterator().next().getArray().getManager();
    }

    @Override
    public ProcessGroup ranks() {
        return setup.ranks;
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
    public int epoch() {
        return length.epoch(state.iteration());
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
        addedMetrics.put(checkNotNull(name, "the name of a metric is null"), value);
    }

    @Override
    public void requestEvaluation() {
        if (setup.validation.isEmpty()) {
            throw SaccadeException.user(
                    "a hook asks for an evaluation, but there is no data.val to measure on");
        }
        state = state.withEvaluationDue();
    }

    @Override
    public void requestCheckpoint() {
        checkpointRequested = true;
    }

    @Override
    public void stop(String reason) {
        stopReason = Optional.of(checkNotNull(reason, "the reason to stop is null"));
    }

    @Override
    public void note(String line) {
        hooks.noted(checkNotNull(line, "the line to note is null"));
    }
}
