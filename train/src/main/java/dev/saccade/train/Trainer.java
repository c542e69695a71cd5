package dev.saccade.train;

import ai.djl.ndarray.NDManager;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.SampleDraws;
import dev.saccade.core.ops.NoGrad;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Losses;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.train.config.Interval;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.logs.EvaluationReport;
import dev.saccade.train.logs.MemoryUse;
import dev.saccade.train.logs.StepMeter;
import dev.saccade.train.logs.StepReport;
import dev.saccade.train.logs.TrainListener;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.train.schedules.RunLength;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The loop: steps, logs, evaluations and checkpoints until a run is over.
 *
 * <p>Which batch comes next, its augmentation and its learning rate are functions of the number of
 * steps taken, so a run that is resumed, in the middle of an epoch too, goes on as if it had never
 * stopped; on CPUs bit by bit.
 */
public final class Trainer {

    /** Thrown into an evaluation when the run is asked to stop. */
    private static final class StopRequested extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /**
     * What a trainer works with.
     *
     * @param model the module whose parameters are learned
     * @param losses runs it on a batch
     * @param optimizer changes its parameters
     * @param loader gives the batches
     * @param evaluator measures it, if it is measured
     */
    public record Parts(
            Module model,
            BatchLosses losses,
            Optimizer optimizer,
            DataLoader<Batch> loader,
            Optional<Evaluator> evaluator) {}

    private final Parts parts;
    private final RunConfig config;
    private final RunFolder folder;
    private final RunCheckpoints checkpoints;
    private final TrainListener listener;
    private final RunLength length;
    private final StepTaker steps;
    private final StepMeter meter = new StepMeter();
    private final NDManager manager;
    private RunState state;
    private double sessionSeconds;
    private long sessionSteps;
    private volatile boolean stopRequested;

    /**
     * Prepares a run.
     *
     * @param state where it begins; what {@link RunCheckpoints#resume} returned, or {@link
     *     RunState#START}
     */
    public Trainer(
            Parts parts,
            RunConfig config,
            RunFolder folder,
            RunCheckpoints checkpoints,
            RunState state,
            TrainListener listener) {
        this.parts = parts;
        this.config = config;
        this.folder = folder;
        this.checkpoints = checkpoints;
        this.state = state;
        this.listener = listener;
        manager = parts.model.namedParameters().values().iterator().next().getArray().getManager();
        length = config.length(parts.loader.batchesPerEpoch());
        steps =
                new StepTaker(
                        this::losses,
                        parts.optimizer,
                        config.accumulation(),
                        config.maxGradientNorm());
    }

    /** Asks the run to end after the step that is being taken; may be called in any thread. */
    public void stop() {
        stopRequested = true;
    }

    /**
     * Runs to the end, or until asked to stop; the last state is saved either way.
     *
     * @throws SaccadeException if a loss is not finite, or a file cannot be read or written
     */
    public Outcome run() {
        parts.model.train(true);
        if (evaluationIsDue() && state.evaluated() < state.iteration() && !evaluate()) {
            return Outcome.INTERRUPTED;
        }
        while (!isOver()) {
            int epoch = length.epoch(state.iteration());
            long stepInEpoch = state.iteration() - epoch * length.iterationsPerEpoch();
            int firstBatch = Math.toIntExact(stepInEpoch * config.accumulation());
            try (DataLoader<Batch>.Epoch batches = parts.loader.epoch(epoch, firstBatch)) {
                while (batches.hasNext() && !isOver()) {
                    if (ranOutOfPatience()) {
                        String evaluations = Count.of(state.stale(), "evaluation");
                        listener.noted(evaluations + " without a new best: stopping");
                        return Outcome.STOPPED_EARLY;
                    }
                    if (!advance(batches, epoch)) {
                        return Outcome.INTERRUPTED;
                    }
                }
            }
        }
        return Outcome.FINISHED;
    }

    private boolean isOver() {
        return state.iteration() >= length.iterations();
    }

    private boolean ranOutOfPatience() {
        return config.evaluation().patience().filter(most -> state.stale() >= most).isPresent();
    }

    /** Takes a step and does what is due after it; returns false if asked to stop. */
    private boolean advance(DataLoader<Batch>.Epoch batches, int epoch) {
        step(batches, epoch);
        if (stopRequested) {
            checkpoints.saveLast(state);
            return false;
        }
        if (evaluationIsDue() && !evaluate()) {
            return false;
        }
        Optional<Interval> keepEvery = config.checkpoint().keepEvery();
        if (keepEvery.filter(every -> every.isDue(state.iteration(), length)).isPresent()) {
            checkpoints.saveWeights(kept(), state);
        }
        if (config.checkpoint().every().isDue(state.iteration(), length) || isOver()) {
            checkpoints.saveLast(state);
        }
        return true;
    }

    private void step(DataLoader<Batch>.Epoch batches, int epoch) {
        long start = System.nanoTime();
        double waited = parts.loader.waitedSeconds();
        double learningRate =
                config.schedule().learningRate(config.learningRate(), state.iteration(), length);
        StepTaker.Taken taken = steps.step(batches, state.iteration() + 1, learningRate);
        state = state.afterStep(taken.images());
        double seconds = (System.nanoTime() - start) / 1e9;
        sessionSeconds += seconds;
        sessionSteps++;
        StepReport report =
                new StepReport(
                        state.iteration(),
                        length.iterations(),
                        epoch,
                        learningRate,
                        taken.losses(),
                        taken.losses().values().stream().mapToDouble(v -> v).sum(),
                        taken.figures(),
                        taken.gradientNorm(),
                        seconds,
                        parts.loader.waitedSeconds() - waited,
                        remaining());
        meter.add(report);
        listener.stepped(report);
        if (state.iteration() % config.logInterval() == 0 || isOver()) {
            listener.averaged(meter.mean(report), MemoryUse.now(manager));
        }
    }

    /** Runs the model, each layer of which draws by seed, epoch and image. */
    private Losses losses(Batch batch, NDManager scratch) {
        return SampleDraws.during(
                config.seed(),
                length.epoch(state.iteration()),
                distinct(batch.images()),
                () -> parts.losses.of(batch, scratch));
    }

    /** Returns the ids of images, but others for the second and further times that one comes. */
    static long[] distinct(List<ImageInfo> images) {
        Map<Long, Integer> times = new HashMap<>();
        return images.stream()
                .mapToLong(ImageInfo::id)
                .map(
                        id -> {
                            int time = times.merge(id, 1, Integer::sum);
                            return time == 1 ? id : SeededRandom.of(id, time).nextLong();
                        })
                .toArray();
    }

    private Duration remaining() {
        double steps = length.iterations() - state.iteration();
        return Duration.ofMillis(Math.round(1000 * steps * sessionSeconds / sessionSteps));
    }

    private Path kept() {
        return state.iteration() % length.iterationsPerEpoch() == 0
                ? folder.epoch(epochsDone())
                : folder.iteration(state.iteration());
    }

    private int epochsDone() {
        return Math.toIntExact(state.iteration() / length.iterationsPerEpoch());
    }

    private boolean evaluationIsDue() {
        return parts.evaluator.isPresent()
                && state.iteration() > 0
                && (isOver() || config.evaluation().every().isDue(state.iteration(), length));
    }

    /** Evaluates and keeps the best; returns false if asked to stop, which leaves it to do. */
    private boolean evaluate() {
        Evaluator.Result result;
        parts.model.train(false);
        try {
            result =
                    NoGrad.call(() -> parts.evaluator.orElseThrow().evaluate(this::throwIfStopped));
        } catch (StopRequested e) {
            checkpoints.saveLast(state);
            return false;
        } finally {
            parts.model.train(true);
        }
        state = state.afterEvaluation(monitored(result));
        if (state.isBest()) {
            checkpoints.saveWeights(folder.best(), state);
        }
        listener.evaluated(
                new EvaluationReport(
                        state.iteration(),
                        epochsDone(),
                        result.metrics(),
                        result.pictures(),
                        state.isBest()));
        return true;
    }

    private void throwIfStopped() {
        if (stopRequested) {
            throw new StopRequested();
        }
    }

    private double monitored(Evaluator.Result result) {
        Double value = result.metrics().get(config.monitor());
        if (value == null) {
            throw SaccadeException.user(
                    "evaluation.monitor: there is no metric %s; expected one of %s",
                    config.monitor(), result.metrics().keySet());
        }
        return value;
    }
}
