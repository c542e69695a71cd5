package dev.saccade.cli;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.models.ModelSpec;
import dev.saccade.train.config.RunConfig;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The config of a checkpoint: that of the run it lies in, else what is written in it. */
final class CheckpointConfig {

    private CheckpointConfig() {}

    static ConfigNode.Mapping read(Path checkpoint) {
        Path ofRun = checkpoint.toAbsolutePath().resolve("../../config.yaml").normalize();
        if (Files.isRegularFile(ofRun)) {
            return ConfigFile.load(ofRun, List.of());
        }
        Checkpoint opened = Checkpoints.open(checkpoint);
        ModelSpec spec = ModelSpec.fromMetadata(opened.metadata(), checkpoint.toString());
        Map<String, Object> data =
                Map.of(
                        "val_transforms", spec.transforms(),
                        "views", spec.views().views(),
                        "val_views", spec.views().valViews());
        Map<String, Object> run =
                Map.of("model", spec.model(), "data", data, "precision", spec.precision());
        return Configs.unbind(Configs.of(RunConfig.class, run));
    }
}
