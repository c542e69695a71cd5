package dev.saccade.train.checkpoint;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.train.optimizers.GradScaler;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Progress of a run: all that a resumed run needs besides weights, optimizer and hook states.
 *
 * @param iteration number of finished optimizer steps
 * @param lastEvaluation {@code iteration} of the last evaluation
 * @param best best value of the monitored metric; NaN until an evaluation is not NaN
 * @param stale number of evaluations since the best one, or of all evaluations if none was best
 * @param evaluationDue whether an evaluation is due or was interrupted
 */
public record RunState(
        long iteration,
        long lastEvaluation,
        double best,
        int stale,
        boolean evaluationDue,
        GradScaler scaler,
        Optional<ScoreThresholds> scoreThresholds) {

    public static final RunState START =
            new RunState(0, 0, Double.NaN, 0, false, GradScaler.START, Optional.empty());

    public RunState afterStep(GradScaler next) {
        return new RunState(
                iteration + 1, lastEvaluation, best, stale, evaluationDue, next, scoreThresholds);
    }

    /** Returns the state with another step count; an evaluated state stays evaluated. */
    public RunState withIteration(long step) {
        long at = lastEvaluation == iteration ? step : Math.min(lastEvaluation, step);
        return new RunState(step, at, best, stale, evaluationDue, scaler, scoreThresholds);
    }

    public RunState withEvaluationDue() {
        return new RunState(iteration, lastEvaluation, best, stale, true, scaler, scoreThresholds);
    }

    /** Returns the state after an evaluation. NaN is never the best. */
    public RunState afterEvaluation(double value, Optional<ScoreThresholds> thresholds) {
        boolean better = value > best || (Double.isNaN(best) && !Double.isNaN(value));
        double newBest = better ? value : best;
        int newStale = better ? 0 : stale + 1;
        return new RunState(iteration, iteration, newBest, newStale, false, scaler, thresholds);
    }

    /** Returns whether the model was evaluated after the last step. */
    public boolean isEvaluated() {
        boolean never = Double.isNaN(best) && stale == 0;
        return lastEvaluation == iteration && !never;
    }

    /** Returns whether the evaluation after the last step was the best. */
    public boolean isBest() {
        return isEvaluated() && stale == 0;
    }

    public Map<String, String> toMetadata() {
        ImmutableMap.Builder<String, String> metadata = ImmutableMap.builder();
        metadata.put("run.iteration", Long.toString(iteration))
                .put("run.evaluated", Long.toString(lastEvaluation))
                .put("run.best", Double.toString(best))
                .put("run.stale", Integer.toString(stale))
                .put("run.evaluation_due", Boolean.toString(evaluationDue))
                .put("run.loss_scale", Double.toString(scaler.scale()))
                .put("run.growth_tracker", Integer.toString(scaler.growthTracker()));
        scoreThresholds.ifPresent(thresholds -> metadata.putAll(thresholds.toMetadata()));
        return metadata.buildOrThrow();
    }

    public static RunState fromMetadata(Path file, Map<String, String> metadata) {
        try {
            GradScaler scaler =
                    new GradScaler(
                            Double.parseDouble(metadata.get("run.loss_scale")),
                            Integer.parseInt(metadata.get("run.growth_tracker")));
            return new RunState(
                    Long.parseLong(metadata.get("run.iteration")),
                    Long.parseLong(metadata.get("run.evaluated")),
                    Double.parseDouble(metadata.get("run.best")),
                    Integer.parseInt(metadata.get("run.stale")),
                    Boolean.parseBoolean(metadata.get("run.evaluation_due")),
                    scaler,
                    ScoreThresholds.find(metadata, file.toString()));
        } catch (NumberFormatException | NullPointerException e) {
            throw SaccadeException.user(
                    "%s: has no training state; resume from last.safetensors, or start a"
                            + " new run with init_from set to this file",
                    file);
        }
    }
}
