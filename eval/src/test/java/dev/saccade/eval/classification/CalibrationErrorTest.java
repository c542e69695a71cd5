package dev.saccade.eval.classification;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.SplittableRandom;

class CalibrationErrorTest {

    /** Expected value from torchmetrics 1.9.0, {@code n_bins=15, norm="l1"}. */
    @Test
    void equalsTorchmetrics() {
        double[] confidences = {0.7, 0.5, 1, 1, 0.98, 0.6, 0.4, 0.9, 0.6, 0.95};
        boolean[] correct = {true, false, true, false, true, true, false, true, false, true};
        assertEquals(0.257, CalibrationError.of(confidences, correct), 1e-6);
    }

    @Test
    void isTheGapOfEachBin() {
        // Bins [2/15, 3/15) and [14/15, 1): |0.15 - 1 / 2| and |0.95 - 0|.
        double[] confidences = {0.14, 0.16, 0.95, 0.95};
        boolean[] correct = {true, false, false, false};
        assertEquals((0.7 + 1.9) / 4, CalibrationError.of(confidences, correct), 1e-12);
        assertEquals(0, CalibrationError.of(new double[0], new boolean[0]));
    }

    @Test
    void isSmallForCalibratedConfidences() {
        SplittableRandom random = new SplittableRandom(1);
        double[] confidences = random.doubles(100_000).toArray();
        boolean[] correct = new boolean[confidences.length];
        for (int i = 0; i < correct.length; i++) {
            correct[i] = random.nextDouble() < confidences[i];
        }
        assertEquals(0, CalibrationError.of(confidences, correct), 0.01);
        Arrays.fill(correct, true);
        assertEquals(0.5, CalibrationError.of(confidences, correct), 0.01);
    }
}
