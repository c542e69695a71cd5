package dev.saccade.train.optimizers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class GradScalerTest {

    @Test
    void scaleFallsAfterAnOverflowAndRisesLater() {
        GradScaler scaler = GradScaler.START;
        assertEquals(65536, scaler.scale());
        scaler = scaler.update(true);
        assertEquals(new GradScaler(32768, 0), scaler);
        for (int i = 0; i < 1999; i++) {
            scaler = scaler.update(false);
        }
        assertEquals(new GradScaler(32768, 1999), scaler);
        assertEquals(new GradScaler(16384, 0), scaler.update(true));
        assertEquals(new GradScaler(65536, 0), scaler.update(false));
    }

    @Test
    void scaleStaysFinite() {
        double largest = Math.scalb(1.0, 127);
        assertEquals(largest, new GradScaler(largest, 1999).update(false).scale());
    }

    @Test
    void isExhaustedIfUnscaledGradientsOverflow() {
        GradScaler scaler = GradScaler.START;
        for (int i = 0; i < 16; i++) {
            scaler = scaler.update(true);
            assertFalse(scaler.isExhausted());
        }
        assertTrue(scaler.update(true).isExhausted());
    }
}
