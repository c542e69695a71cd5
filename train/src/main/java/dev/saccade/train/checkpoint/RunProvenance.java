package dev.saccade.train.checkpoint;

import dev.saccade.datasets.Dataset;
import dev.saccade.models.Provenance;
import dev.saccade.train.config.RunConfig;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Provenance of the checkpoints of a run.
 *
 * @param monitor metric that selects the best checkpoint
 */
public record RunProvenance(Provenance start, String monitor) {

    /** Returns the provenance of a new run. */
    public static RunProvenance of(
            RunConfig config, Optional<Provenance.InitialWeights> initial, Dataset train) {
        Provenance.TrainingData data =
                new Provenance.TrainingData(
                        config.data().train().flatMap(any -> folder(config.data().root())),
                        train.size(),
                        RunIdentity.fingerprint(train));
        return new RunProvenance(
                new Provenance(
                        List.of(Provenance.thisSoftware()),
                        initial,
                        data,
                        config.seed(),
                        0,
                        Map.of(),
                        ConfigChange.affectingTraining(config)),
                config.monitor());
    }

    private static Optional<String> folder(Path root) {
        return Optional.ofNullable(root.normalize().getFileName())
                .map(Path::toString)
                .filter(name -> !name.isEmpty() && !name.equals(".."));
    }

    /** Returns the provenance of a state; the metric is known if the state is the best. */
    Provenance at(RunState state) {
        Map<String, Double> metrics = state.isBest() ? Map.of(monitor, state.best()) : Map.of();
        return start.at(state.iteration(), metrics);
    }

    /** Continues from a checkpoint; empty if its provenance is unknown. */
    Optional<RunProvenance> continuing(Map<String, String> metadata, Path file) {
        return Provenance.find(metadata, file.toString())
                .map(earlier -> new RunProvenance(start.continuing(earlier), monitor));
    }
}
