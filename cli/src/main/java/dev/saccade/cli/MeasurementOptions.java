package dev.saccade.cli;

import com.google.common.collect.ImmutableList;

import dev.saccade.eval.Evaluator;
import dev.saccade.train.config.RunConfig;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * How a model is measured.
 *
 * @param evaluators those of the run; one that is standard for the task is there in any case
 * @param workers threads that read photographs, and that measure
 * @param score from which objects count in confusions and in the report
 * @param boxAreas whether the size of a mask is that of its box in any case
 * @param maxDets limits on evaluated detections per image and class, in place of the run's
 * @param results where detections are written, with a suffix
 */
record MeasurementOptions(
        List<Evaluator.Config> evaluators,
        int workers,
        double score,
        boolean boxAreas,
        Optional<List<Integer>> maxDets,
        Optional<Path> results) {

    /** Score from which objects count in a report. */
    private static final double REPORT_SCORE = 0.4;

    /** Keeps a copy of the list. */
    MeasurementOptions {
        evaluators = ImmutableList.copyOf(evaluators);
    }

    /** Returns the evaluators of the run but for those of a kind. */
    List<Evaluator.Config> evaluatorsBeside(Class<? extends Evaluator.Config> kind) {
        return evaluators.stream().filter(config -> !kind.isInstance(config)).toList();
    }

    /** Returns how a model is measured for the report of its run. */
    static MeasurementOptions ofReport(RunConfig config) {
        return new MeasurementOptions(
                config.evaluators(),
                config.data().workers(),
                REPORT_SCORE,
                false,
                Optional.empty(),
                Optional.empty());
    }
}
