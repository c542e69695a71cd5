package dev.saccade.export;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.OutputFolder;
import dev.saccade.core.Problems;
import dev.saccade.core.nn.Precision;
import dev.saccade.models.ModelCard;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.Provenance;
import dev.saccade.models.ScoreThresholds;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Exports the weights and the description of a model, without training state. */
public final class WeightsExport {

    private WeightsExport() {}

    /** Writes {@code model.safetensors}; float32 weights are rounded to the precision. */
    public static void write(Path checkpoint, Path folder, Precision precision) {
        Checkpoint whole = Checkpoints.open(checkpoint);
        ModelSpec spec = ModelSpec.fromMetadata(whole.metadata(), checkpoint.toString());
        Map<String, Tensor> weights = new LinkedHashMap<>();
        Problems lacking = new Problems();
        for (String name :
                spec.model()
                        .build(spec.classes(), spec.pixels().channels())
                        .namedParameters()
                        .keySet()) {
            Tensor weight = whole.tensors().get(name);
            if (weight == null) {
                lacking.add("%s is missing", name);
            } else {
                weights.put(name, stored(weight, precision));
            }
        }
        lacking.throwIfAny(checkpoint.toString());
        Map<String, String> metadata = new HashMap<>(spec.toMetadata());
        ScoreThresholds.find(whole.metadata(), checkpoint.toString())
                .ifPresent(thresholds -> metadata.putAll(thresholds.toMetadata()));
        Optional<Provenance> provenance = Provenance.find(whole.metadata(), checkpoint.toString());
        provenance.ifPresent(origin -> metadata.putAll(origin.toMetadata()));
        try (OutputFolder target = OutputFolder.create(folder, "export", false, List.of())) {
            Checkpoints.save(
                    target.resolve("model.safetensors"), new Checkpoint(weights, metadata));
            ModelCard.of(folder, spec, provenance).write(target.resolve(ModelCard.FILE));
            target.finish();
        }
    }

    private static Tensor stored(Tensor weight, Precision precision) {
        return weight.type() != ElementType.FLOAT32 || precision == Precision.FLOAT32
                ? weight
                : weight.rounded(ElementType.valueOf(precision.name()));
    }
}
