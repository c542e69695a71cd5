package dev.saccade.train;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;

import java.nio.file.Path;
import java.util.Map;

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
 */
public record RunState(
        long iteration,
        long samples,
        long evaluated,
        double best,
        int stale,
        boolean evaluationDue) {

    private static final String PREFIX = "run.";
    private static final String EVALUATION_DUE = PREFIX + "evaluation_due";

    /** The beginning of a run. */
    static final RunState START = new RunState(0, 0, 0, Double.NaN, 0, false);

    RunState afterStep(int images) {
        return new RunState(iteration + 1, samples + images, evaluated, best, stale, evaluationDue);
    }

    RunState withEvaluationDue() {
        return new RunState(iteration, samples, evaluated, best, stale, true);
    }

    /**
     * Returns the state after an evaluation; the first value, and every higher one, is the best.
     * NaN never is.
     */
    RunState afterEvaluation(double value) {
        return value > best || (Double.isNaN(best) && !Double.isNaN(value))
                ? new RunState(iteration, samples, iteration, value, 0, false)
                : new RunState(iteration, samples, iteration, best, stale + 1, false);
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
                    metadata.containsKey(EVALUATION_DUE));
        } catch (NumberFormatException | NullPointerException e) {
            throw SaccadeException.user(
                    "%s: holds no state of a run; resume from a last.safetensors, or start from its"
                            + " weights by init_from",
                    file);
        }
    }
}
