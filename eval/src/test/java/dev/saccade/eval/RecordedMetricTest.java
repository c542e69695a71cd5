package dev.saccade.eval;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.util.Map;
import java.util.Optional;

class RecordedMetricTest {

    private final RecordedMetric recorded = RecordedMetric.of("AP", Map.of("run.best", "0.5"));

    @Test
    void notesMuchLowerMetrics() {
        assertEquals(
                Optional.of(
                        "note: AP of the original model is only 0.2000 on the training images, but"
                                + " the best of its run is 0.5000; check these images and their"
                                + " labels"),
                recorded.note(Map.of("AP", 0.2), "training images"));
        assertEquals(Optional.empty(), recorded.note(Map.of("AP", 0.25), "training images"));
    }

    @Test
    void unknownMetricsHaveNoNote() {
        assertEquals(Optional.empty(), recorded.note(Map.of("mIoU", 0.0), "training images"));
        RecordedMetric unknown = RecordedMetric.of("AP", Map.of());
        assertEquals(Optional.empty(), unknown.note(Map.of("AP", 0.0), "training images"));
    }
}
