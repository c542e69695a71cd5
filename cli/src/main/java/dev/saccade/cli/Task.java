package dev.saccade.cli;

import dev.saccade.datasets.Dataset;
import dev.saccade.models.TrainedModel;

import picocli.CommandLine.Model.CommandSpec;

import java.util.Optional;

/** What the commands do with a trained model: one way for detectors, another for segmenters. */
interface Task {

    /** Returns what is done with a model, which must stay open meanwhile. */
    static Task of(TrainedModel<?> model) {
        return model.<Task>match(DetectionTask::new, SegmentationTask::new);
    }

    /** Refuses options that were given although they mean nothing where no objects are found. */
    void requireObjectsFor(RunArgument run, CommandSpec command, String... options);

    /** Measures the model, with a progress bar; returns nothing but in rank 0. */
    Optional<? extends Measurement> measure(Dataset dataset, MeasurementOptions options);
}
