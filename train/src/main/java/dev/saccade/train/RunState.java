package dev.saccade.train;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.train.optimizers.GradScaler;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * How far a run is; with weights and optimizer state, all that is needed to go on, since order,
 * augmentation and learning rate are functions of it.
 *
 * @param iteration optimizer steps taken
 * @param samples images learned from, repetitions counted
 * @param evaluated optimizer steps taken at the last evaluation
 * @param best the best value of the monitored metric so far; NaN as long as there is none
 * @param stale evaluations since the best, or in all without one
 * @param evaluationDue whether an evaluation is due, or was interrupted
 * @param scaler the scale of the loss in float16
 * @param scores recommended minimum scores of the last evaluation
 */
public record RunState(
        long iteration,
        long samples,
        long evaluated,
        double best,
        int stale,
        boolean evaluationDue,
        GradScaler scaler,
        Optional<ScoreThresholds> scores) {

    private static final String PREFIX = "run.";
    private static final String EVALUATION_DUE = PREFIX + "evaluation_due";
    private static final String LOSS_SCALE = PREFIX + "loss_scale";
    private static final String GROWTH_TRACKER = PREFIX + "growth_tracker";

    /** The beginning of a run. */
    static final RunState START =
            new RunState(0, 0, 0, Double.NaN, 0, false, GradScaler.START, Optional.empty());

    /**
     * Returns the state after a step.
     *
     * @param next the scale of the loss of the next
     */
    RunState afterStep(int images, GradScaler next) {
        return new RunState(
                iteration + 1,
                samples + images,
                evaluated,
                best,
                stale,
                evaluationDue,
                next,
                scores);
    }

    /** Returns the same state under another number of steps; what was evaluated stays so. */
    RunState at(long step) {
        long at = evaluated == iteration ? step : Math.min(evaluated, step);
        return new RunState(step, samples, at, best, stale, evaluationDue, scaler, scores);
    }

    RunState withEvaluationDue() {
        return new RunState(iteration, samples, evaluated, best, stale, true, scaler, scores);
    }

    /**
     * Returns the state after an evaluation; the first value, and every higher one, is the best.
     * NaN never is.
     *
     * @param thresholds recommended minimum scores, if the evaluation has any
     */
    RunState afterEvaluation(double value, Optional<ScoreThresholds> thresholds) {
        return value > best || (Double.isNaN(best) && !Double.isNaN(value))
                ? new RunState(iteration, samples, iteration, value, 0, false, scaler, thresholds)
                : new RunState(
                        iteration, samples, iteration, best, stale + 1, false, scaler, thresholds);
    }

    /** Returns whether there was an evaluation after the last step. */
    boolean isEvaluated() {
        boolean never = Double.isNaN(best) && stale == 0;
        return evaluated == iteration && !never;
    }

    /** Returns whether the evaluation after the last step was the best. */
    boolean isBest() {
        return isEvaluated() && stale == 0;
    }

    Map<String, String> toMetadata() {
        ImmutableMap.Builder<String, String> metadata =
                ImmutableMap.<String, String>builder()
                        .put(PREFIX + "iteration", Long.toString(iteration))
                        .put(PREFIX + "samples", Long.toString(samples))
                        .put(PREFIX + "evaluated", Long.toString(evaluated))
                        .put(PREFIX + "best", Double.toString(best))
                        .put(PREFIX + "stale", Integer.toString(stale));
        if (evaluationDue) {
            metadata.put(EVALUATION_DUE, "true");
        }
        if (!scaler.equals(GradScaler.START)) {
            metadata.put(LOSS_SCALE, Double.toString(scaler.scale()));
            metadata.put(GROWTH_TRACKER, Integer.toString(scaler.growthTracker()));
        }
        scores.ifPresent(thresholds -> metadata.putAll(thresholds.toMetadata()));
        return metadata.buildOrThrow();
    }

    static RunState fromMetadata(Path file, Map<String, String> metadata) {
        try {
            return new RunState(
                    Long.parseLong(metadata.get(PREFIX + "iteration")),
                    Long.parseLong(metadata.get(PREFIX + "samples")),
                    Long.parseLong(metadata.get(PREFIX + "evaluated")),
                    Double.parseDouble(metadata.get(PREFIX + "best")),
                    Integer.parseInt(metadata.get(PREFIX + "stale")),
                    metadata.containsKey(EVALUATION_DUE),
                    metadata.containsKey(LOSS_SCALE)
                            ? new GradScaler(
                                    Double.parseDouble(metadata.get(LOSS_SCALE)),
                                    Integer.parseInt(metadata.get(GROWTH_TRACKER)))
                            : GradScaler.START,
                    ScoreThresholds.find(metadata, file.toString()));
        } catch (NumberFormatException | NullPointerException e) {
            throw SaccadeException.user(
                    "%s: holds no state of a run; resume from a last.safetensors, or start a new run"
                            + " with init_from set to this file",
                    file);
        }
    }
}
