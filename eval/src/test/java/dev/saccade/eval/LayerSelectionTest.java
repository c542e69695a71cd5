package dev.saccade.eval;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

class LayerSelectionTest {

    private static final Map<String, Double> BEFORE = Map.of("AP", 0.5, "mask_AP", 0.4);

    private final LayerSelection selection = new LayerSelection(0.01);

    /** Returns the selection if the mask AP drops while layers of large error are quantized. */
    private List<String> select(double largest) {
        Map<String, Double> errors = new LinkedHashMap<>();
        errors.put("unused", Double.NaN);
        for (int i = 0; i < 9; i++) {
            errors.put("layer" + i, 0.1 * i);
        }
        return selection.select(
                errors,
                64,
                BEFORE,
                layers -> {
                    boolean low = layers.stream().anyMatch(name -> errors.get(name) > largest);
                    return Map.of("AP", 0.6, "mask_AP", low || layers.isEmpty() ? 0.3 : 0.395);
                });
    }

    @Test
    void layersOfLargeErrorStayInFloat() {
        List<String> layers = select(0.65);
        assertEquals(7, layers.size());
        assertEquals("layer0", layers.get(0));
        assertEquals("layer6", layers.get(6));
    }

    @Test
    void theAccuracyOfClassifiersMustNotDrop() {
        Map<String, Double> before =
                LayerSelection.metrics(Map.of("top1", 0.9, "top5", 1.0, "ece", 0.1));
        assertEquals(Map.of("top1", 0.9), before);
        assertThrows(
                SaccadeException.class,
                () -> selection.requireSmallDrop("a.onnx", 8, before, Map.of("top1", 0.8)));
    }

    @Test
    void rejectsLargeDrops() {
        SaccadeException none = assertThrows(SaccadeException.class, () -> select(-1));
        assertTrue(
                none.getMessage()
                        .startsWith(
                                "not quantized: on 64 training images, mask_AP drops from 0.4000 to"
                                        + " 0.3000"),
                none.getMessage());
        SaccadeException validation =
                assertThrows(
                        SaccadeException.class,
                        () -> selection.requireSmallDrop("a.onnx", 8, BEFORE, Map.of("AP", 0.5)));
        assertTrue(
                validation.getMessage().contains("8 validation images, mask_AP drops"),
                validation.getMessage());
    }
}
