package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;

import org.junit.jupiter.api.Test;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Minimum scores of detections and their entry in checkpoints. */
class ScoreThresholdsTest {

    @Test
    void selectsByTheThresholdOfEachClass() {
        Instances detections =
                Instances.predicted(
                        Boxes.of(new float[16]),
                        new int[] {0, 1, 0, 1},
                        new float[] {0.9f, 0.6f, 0.5f, 0.49f});
        List<String> classes = List.of("a", "b");
        ScoreThresholds thresholds = new ScoreThresholds(0.5, Map.of("a", 0.7));
        assertArrayEquals(new int[] {0, 1}, thresholds.select(detections, classes).labels());
        assertEquals(3, thresholds.uniform().select(detections, classes).size());
        assertEquals(4, ScoreThresholds.of(0).select(detections, classes).size());
    }

    @Test
    void checkpointsStoreAnyClassName() {
        Map<String, Double> perClass = new LinkedHashMap<>();
        for (String name :
                List.of(
                        "02146", "1e3", "null", "", "a: b", "# c", "- d", "\"q'", "é\n", "~",
                        "{}")) {
            perClass.put(name, 0.01 * (perClass.size() + 1));
        }
        ScoreThresholds thresholds = new ScoreThresholds(0.52, perClass);
        assertEquals(
                Optional.of(thresholds), ScoreThresholds.find(thresholds.toMetadata(), "file"));
        assertEquals(Optional.empty(), ScoreThresholds.find(Map.of(), "file"));
    }

    @Test
    void rejectsScoresOutside0To1() {
        for (double score : new double[] {-0.1, 1.1, Double.NaN}) {
            SaccadeException rejected =
                    assertThrows(SaccadeException.class, () -> ScoreThresholds.of(score));
            assertTrue(rejected.getMessage().contains("expected 0 to 1"), rejected.getMessage());
        }
        Map<String, String> damaged = Map.of("saccade.scores", "overall: 2\nper_class: {}\n");
        assertThrows(SaccadeException.class, () -> ScoreThresholds.find(damaged, "file"));
    }
}
