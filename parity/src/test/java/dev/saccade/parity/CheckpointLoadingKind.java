package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.core.components.Backbone;

import java.util.List;
import java.util.Map;

/** A pre-training checkpoint loaded into a backbone with other windows, and its outputs. */
final class CheckpointLoadingKind implements Kind {

    private static final String LOADED = "loaded:";

    @Override
    public void run(Case recorded) {
        recorded.settings().describes("input_shape", "pretrained_config", "weights_key");
        Backbone backbone =
                BackboneKind.config(recorded.settings().text("cls"), recorded.config()).build();
        backbone.initialize(recorded.manager(), 0);
        Weights.restore(Checkpoints.open(recorded.file("init.pth")), backbone);
        LoadReport report =
                Weights.initialize(Checkpoints.open(recorded.file("weights.pth")), backbone);
        assertEquals(List.of(), report.missing());
        assertEquals(List.of(), report.unexpected());
        assertTrue(report.newParameters().stream().allMatch(name -> name.startsWith("norm")));
        Tolerance stated = Tolerance.parse(recorded.settings().text("tolerance"));
        for (String name : recorded.names(LOADED)) {
            NDArray parameter =
                    backbone.namedParameters().get(name.substring(LOADED.length())).getArray();
            recorded.compare(name, parameter, stated);
        }
        backbone.train(false);
        NDArray x = recorded.tensor("x");
        Backward.compare(recorded, Map.of("x", x), backbone, () -> backbone.apply(x).levels());
    }
}
