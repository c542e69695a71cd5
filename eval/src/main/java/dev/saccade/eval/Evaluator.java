package dev.saccade.eval;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Dataset;

import java.util.OptionalInt;
import java.util.Set;

/**
 * Evaluates the predictions of a model on the images of a data set.
 *
 * <p>{@link DatasetInference} calls {@link #reset}, then {@link #process} for every image, then
 * {@link #evaluate}, any number of times. If several ranks share the images, the evaluator of rank
 * 0 merges the {@link #collected} results of the others.
 *
 * @param <P> prediction for an image: {@link Instances} or a {@link LabelMap}, in pixels of the
 *     original image
 */
public interface Evaluator<P> {

    /**
     * The settings of an evaluator, as {@code evaluation.evaluators} names it. {@link
     * Evaluators#standard} are those that measure where nothing is named.
     *
     * <p>To bring one of your own, implement this with a record and list the record in a {@link
     * dev.saccade.core.parts.PartProvider}.
     */
    interface Config extends PartConfig {

        /** Returns the class of the predictions that are measured. */
        Class<?> predictionType();

        /** Returns the metric that tells the best checkpoint if a run names none. */
        String keyMetric();

        /** Returns whether it measures all predictions of its type where a run names no other. */
        default boolean isStandard() {
            return false;
        }

        /** Returns the limit on evaluated detections per image and class; empty if none. */
        default OptionalInt mostDetections() {
            return OptionalInt.empty();
        }

        /**
         * Returns the evaluator of a data set.
         *
         * @param targets what the head has learned and so predicts
         * @param threads how many may share the work of {@link Evaluator#evaluate}
         * @throws SaccadeException of kind user, if the data set lacks what is to be measured
         */
        Evaluator<?> build(Dataset dataset, TargetKind targets, int threads);
    }

    /** Returns the names of the metrics that evaluations of the data set have. */
    Set<String> metrics();

    /** Forgets all photographs. */
    void reset();

    /**
     * Takes what is predicted for a photograph. Several threads do so at the same time, each for
     * another photograph.
     *
     * @param index of the photograph in the data set
     */
    void process(int index, P predicted);

    /**
     * Returns what {@link #process} has collected since {@link #reset}, for the evaluator of
     * another rank to {@link #merge}; an evaluator that has none of both measures in one process
     * only.
     */
    default byte[] collected() {
        throw SaccadeException.user(
                "%s cannot measure on several ranks, since it has no collected() and merge(); train"
                        + " with one, or without that evaluator",
                getClass().getName());
    }

    /**
     * Takes what the evaluator of another rank has collected of other photographs of the same data
     * set.
     */
    default void merge(byte[] collected) {
        throw new UnsupportedOperationException("whoever collects must merge");
    }

    /**
     * Returns the evaluation of all photographs since {@link #reset}.
     *
     * @throws IllegalStateException if one of the data set is missing
     */
    Evaluation evaluate();
}
