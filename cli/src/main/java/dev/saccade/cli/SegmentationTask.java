package dev.saccade.cli;

import dev.saccade.datasets.Dataset;
import dev.saccade.models.Segmenter;

import picocli.CommandLine.Model.CommandSpec;

import java.util.Optional;

/** What is done with a segmenter. */
record SegmentationTask(Segmenter segmenter) implements Task {

    @Override
    public void requireObjectsFor(RunArgument run, CommandSpec command, String... options) {
        run.requireDetectorFor(command, options);
    }

    @Override
    public Optional<? extends Measurement> measure(Dataset dataset, MeasurementOptions options) {
        return SegmentationMeasurement.measure(segmenter, dataset, options);
    }
}
