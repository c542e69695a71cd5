package dev.saccade.cli;

import dev.saccade.datasets.Dataset;
import dev.saccade.eval.IouType;
import dev.saccade.eval.MetricTable;
import dev.saccade.models.Detector;
import dev.saccade.models.Segmenter;
import dev.saccade.models.TrainedModel;

import java.util.List;
import java.util.Map;

/** How a model did on labelled photographs: as tables, as JSON, and as figures of a report. */
sealed interface Measurement permits ObjectMeasurement, LabelMeasurement {

    /** How many confusions are listed. */
    int CONFUSIONS = 10;

    /** Score from which objects count in a report. */
    double REPORT_SCORE = 0.4;

    /**
     * Measures a model for the report of its run, with a progress bar.
     *
     * @param model must stay open as long as figures are asked for
     * @param workers threads that read photographs
     */
    static Measurement of(TrainedModel model, Dataset dataset, int workers) {
        if (model instanceof Segmenter segmenter) {
            return LabelMeasurement.of(segmenter, dataset, workers);
        }
        Detector detector = (Detector) model;
        return ObjectMeasurement.of(detector, dataset, IouType.MASK, REPORT_SCORE, workers);
    }

    /** Returns the tables that every evaluation ends with. */
    List<MetricTable> tables();

    /** Returns the tables for those who want to know more. */
    List<MetricTable> details();

    /** Returns all of it, for JSON. */
    Map<String, Object> json();

    /** Returns what the report of the run says about it. */
    TaskFigures figures();
}
