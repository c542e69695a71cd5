package dev.saccade.heads.box;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.config.Configs;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;

import org.junit.jupiter.api.Test;

class MulticlassNmsTest {

    @Test
    void selectsTheBestOfEveryClass() {
        Boxes boxes = Boxes.of(0, 0, 10, 10, 0, 0, 10, 9, 50, 50, 60, 60);
        float[] scores = {0.9f, 0.3f, 0.8f, 0.6f, 0.01f, 0.04f};
        Instances kept = Configs.of(MulticlassNms.class).apply(boxes, scores, 2).instances();
        assertArrayEquals(new int[] {0, 1}, kept.labels());
        assertEquals(0.9f, kept.score(0));
        assertEquals(0.6f, kept.score(1));
    }

    @Test
    void selectsNothingFromNothing() {
        assertEquals(
                0,
                Configs.of(MulticlassNms.class)
                        .apply(Boxes.empty(), new float[0], 3)
                        .instances()
                        .size());
    }
}
