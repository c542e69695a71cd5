package dev.saccade.heads.box;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDManager;

import dev.saccade.config.Configs;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HardNmsTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    private Detections selected() {
        Boxes boxes = Boxes.of(0, 0, 10, 10, 0, 0, 10, 9, 50, 50, 60, 60);
        float[] scores = {0.9f, 0.3f, 0.8f, 0.6f, 0.01f, 0.04f};
        return Configs.of(HardNms.class).apply(Rows.scored(manager, boxes, 2, scores)).detections();
    }

    @Test
    void selectsTheBestOfEveryClass() {
        Instances kept = selected().toInstances().get(0);
        assertArrayEquals(new int[] {0, 1}, kept.labels());
        assertEquals(0.9f, kept.score(0));
        assertEquals(0.6f, kept.score(1));
        assertEquals(Boxes.of(0, 0, 10, 10, 0, 0, 10, 9), kept.boxes());
    }

    @Test
    void fixedShapesAreFilledUp() {
        Detections filled = DynamicShapes.callWithout(this::selected);
        assertEquals(6, filled.maxPerImage());
        assertEquals(2, filled.counts().getLong());
        assertEquals(Float.NEGATIVE_INFINITY, filled.scores().toFloatArray()[2]);
        assertEquals(
                selected().toInstances().get(0).toString(), filled.toInstances().get(0).toString());
    }

    @Test
    void selectsNothingFromEmptyInput() {
        Detections none =
                Configs.of(HardNms.class)
                        .apply(Rows.scored(manager, Boxes.empty(), 3))
                        .detections();
        assertEquals(0, none.toInstances().get(0).size());
    }
}
