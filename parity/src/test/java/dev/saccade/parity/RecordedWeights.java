package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.core.nn.Module;

import java.util.List;

/** Weights of a case in the format of official PyTorch checkpoints. */
final class RecordedWeights {

    private static final String LEGACY = "weights_legacy";

    private RecordedWeights() {}

    /** Loads the recorded weights into a module; names must match exactly. */
    static void load(Case recorded, Module module) {
        Settings settings = recorded.settings();
        settings.describes("checkpoint_extras", LEGACY);
        String key = settings.text("weights_key");
        if (!List.of("state_dict", "model").contains(key)) {
            throw settings.refused("weights_key", "expected state_dict or model");
        }
        module.initialize(recorded.manager(), 0);
        Checkpoint checkpoint = Checkpoints.open(recorded.file("weights.pth"));
        LoadReport report = Weights.restore(checkpoint, module);
        assertEquals(List.of(), report.unexpected());
        if (settings.has(LEGACY)) {
            Checkpoint legacy = Checkpoints.open(recorded.file(LEGACY + ".pth"));
            assertEquals(checkpoint.tensors(), legacy.tensors());
        }
    }
}
