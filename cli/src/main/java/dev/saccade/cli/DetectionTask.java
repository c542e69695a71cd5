package dev.saccade.cli;

import dev.saccade.datasets.Dataset;
import dev.saccade.models.Detector;

import picocli.CommandLine.Model.CommandSpec;

import java.util.Optional;

/** What is done with a detector. */
record DetectionTask(Detector detector) implements Task {

    @Override
    public void requireObjectsFor(RunArgument run, CommandSpec command, String... options) {}

    @Override
    public Optional<? extends Measurement> measure(Dataset dataset, MeasurementOptions options) {
        return DetectionMeasurement.measure(detector, dataset, options);
    }
}
