package dev.saccade.train.extend;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.core.Devices;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.Text;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.combined.PartiallyLabeledDataset;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.models.Detector;
import dev.saccade.models.Provenance;
import dev.saccade.train.config.RunConfig;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Selects interpolated weights with the highest AP of the new classes among those that keep the AP
 * of the old classes.
 *
 * @param oldVal validation set of the run before
 * @param before its evaluation by the run before
 */
record WeightSelection(
        RunConfig config,
        ExtendedData data,
        Dataset oldVal,
        DetectionEvaluation before,
        double maxDrop,
        TaskMonitor monitor,
        Consumer<String> log) {

    private static final double[] TRAINED_WEIGHTS = {1, 0.75, 0.5, 0.25};
    private static final double LOW_AP = 0.05;

    /** Weights with their metrics. */
    record Candidate(Checkpoint checkpoint, ClassComparison classes, double trainedWeight) {}

    /**
     * Evaluates interpolations of the weights before and after training, and returns the best one.
     *
     * @param scratch file for intermediate weights; deleted at the end
     * @throws SaccadeException of kind user, if an old class loses too much AP in all of them
     */
    Candidate select(Path old, Path trained, Path scratch) {
        WeightInterpolation weights = WeightInterpolation.of(old, trained);
        Dataset all = data.val().open(ExtendedData.ROOT);
        List<ClassComparison> comparisons = new ArrayList<>();
        Optional<Candidate> best = Optional.empty();
        for (double fraction : TRAINED_WEIGHTS) {
            Candidate candidate = evaluate(weights.at(fraction), fraction, scratch, all);
            ClassComparison classes = candidate.classes;
            log.accept(
                    Text.format(
                            "%.0f %% trained weights: AP of new classes %.3f, largest drop of an"
                                    + " old class %.3f%s",
                            100 * fraction,
                            classes.newAp(),
                            classes.largestDrop(),
                            classes.dropped(maxDrop).isEmpty() ? "" : " (too large)"));
            comparisons.add(classes);
            if (classes.dropped(maxDrop).isEmpty()
                    && best.filter(b -> b.classes.newAp() >= classes.newAp()).isEmpty()) {
                best = Optional.of(candidate);
            }
        }
        try {
            Files.delete(scratch);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be deleted: %s", scratch, e.getMessage());
        }
        Candidate selected = best.orElseThrow(() -> rejected(comparisons));
        log.accept(Text.format("selected %.0f %% trained weights", 100 * selected.trainedWeight));
        if (selected.classes.newAp() < LOW_AP) {
            log.accept(
                    Text.format(
                            "warning: the AP of new classes is only %.3f; train more epochs or"
                                    + " label more new images",
                            selected.classes.newAp()));
        }
        return selected;
    }

    private Candidate evaluate(Checkpoint checkpoint, double fraction, Path file, Dataset all) {
        SafeTensors.write(file, checkpoint);
        try (Detector detector = Detector.load(file, Devices.local().choose(config.device()))) {
            Predictions predictions =
                    Predictions.of(detector, all, config.data().workers(), "evaluate", monitor);
            DetectionEvaluation whole = predictions.evaluate(all, config);
            // The old images come first in the validation set.
            DetectionEvaluation old =
                    predictions.evaluate(
                            new PartiallyLabeledDataset(oldVal, data.classes(), data.oldClasses()),
                            config);
            return new Candidate(
                    described(checkpoint, whole),
                    ClassComparison.of(before, old, whole, data.newClasses()),
                    fraction);
        }
    }

    /** Returns the checkpoint with the metrics and recommended scores of its weights. */
    private Checkpoint described(Checkpoint checkpoint, DetectionEvaluation evaluation) {
        Map<String, String> metadata = new HashMap<>(checkpoint.metadata());
        evaluation.scoreThresholds().ifPresent(each -> metadata.putAll(each.toMetadata()));
        Map<String, Double> monitored = new HashMap<>(evaluation.values());
        monitored.keySet().retainAll(List.of(config.monitor()));
        Provenance.find(metadata, "the trained weights")
                .map(each -> each.at(each.iteration(), monitored))
                .ifPresent(each -> metadata.putAll(each.toMetadata()));
        return new Checkpoint(checkpoint.tensors(), metadata);
    }

    private SaccadeException rejected(List<ClassComparison> comparisons) {
        ClassComparison best =
                comparisons.stream()
                        .min(Comparator.comparingDouble(ClassComparison::largestDrop))
                        .orElseThrow();
        Problems problems = new Problems();
        best.dropped(maxDrop).forEach(each -> problems.add("%s", each));
        return SaccadeException.user(
                        "no run was written, because old classes lost more than %s AP; replay more"
                                + " images, train fewer epochs or allow a drop of %.3f:%s",
                        maxDrop, best.acceptedDrop(), problems)
                .withSettings("replay", "epochs", "max-drop");
    }
}
