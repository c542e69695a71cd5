package dev.saccade.eval;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Dataset;

import java.util.OptionalInt;
import java.util.Set;

/**
 * Evaluates the predictions of a model on a data set. {@link DatasetInference#run} calls {@link
 * #reset}, then {@link #process} for every image. With several ranks, each rank processes some of
 * the images, and rank 0 merges the {@link #state} of the others. Then call {@link #evaluate}.
 *
 * @param <P> prediction in original pixels: {@link Instances}, a {@link LabelMap} or {@link
 *     ClassScores}
 */
public interface Evaluator<P> {

    /**
     * Settings of an evaluator under {@code evaluation.evaluators}. For a custom evaluator,
     * implement this with a record and list it in a {@link
     * dev.saccade.core.components.ComponentProvider}.
     */
    interface Config extends ComponentConfig {

        /** Returns the class of the evaluated predictions. */
        Class<?> predictionType();

        /** Returns the metric that selects the best checkpoint by default. */
        String keyMetric();

        /** Returns whether the evaluator is used by default for its prediction type. */
        default boolean isDefault() {
            return false;
        }

        /** Returns the limit on evaluated detections per image and class; empty if none. */
        default OptionalInt maxDetections() {
            return OptionalInt.empty();
        }

        /**
         * Creates the evaluator of a data set.
         *
         * @param threads maximum number of threads of {@link Evaluator#evaluate}
         * @throws SaccadeException of kind user, if the data set lacks the required annotations
         */
        Evaluator<?> build(Dataset dataset, TargetKind targets, int threads);
    }

    /** Returns the names of all metrics for the data set. */
    Set<String> metrics();

    /** Discards all predictions. */
    void reset();

    /** Adds the prediction for an image. Threads call this concurrently for different images. */
    void process(int index, P predicted);

    /** Serializes the state for {@link #mergeState} on rank 0; by default, throws. */
    default byte[] state() {
        throw SaccadeException.user(
                "%s: does not support several ranks; implement state() and mergeState(), train"
                        + " on one rank, or remove this evaluator",
                getClass().getName());
    }

    /** Adds the state of another rank, which processed other images. */
    default void mergeState(byte[] state) {
        throw new UnsupportedOperationException("an evaluator with state() needs mergeState()");
    }

    /** Returns the metrics since {@link #reset}; throws if an image has no prediction. */
    Evaluation evaluate();
}
