package dev.saccade.train.config;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.models.ModelSpec;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public final class StoredConfig {

    private StoredConfig() {}

    /** Returns the config in a checkpoint's run folder, or else the settings in the checkpoint. */
    public static ConfigNode.Mapping read(Path checkpoint) {
        Path ofRun = checkpoint.toAbsolutePath().resolve("../../config.yaml").normalize();
        if (Files.isRegularFile(ofRun)) {
            return ConfigFile.load(ofRun, List.of());
        }
        Checkpoint opened = Checkpoints.open(checkpoint);
        ModelSpec spec = ModelSpec.fromMetadata(opened.metadata(), checkpoint.toString());
        PixelFormat pixels = spec.pixels();
        Map<String, Object> data = new HashMap<>();
        data.put("val_transforms", spec.transforms());
        data.put("tta", spec.tta().tta());
        data.put("val_tta", spec.tta().valTta());
        if (!pixels.isRgb8()) {
            data.put("channels", pixels.channels());
            data.put("range", pixels.range());
            data.put("extra_files", pixels.extraFiles());
            data.put("display", pixels.display());
            // The default transforms need RGB.
            data.put("train_transforms", spec.transforms());
        }
        Map<String, Object> run =
                Map.of("model", spec.model(), "data", data, "precision", spec.precision());
        return Configs.unbind(Configs.of(RunConfig.class, run));
    }
}
