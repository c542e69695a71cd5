package dev.saccade.tune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

class RungsTest {

    @Test
    void keepsAThirdInEachRung() {
        assertEquals(List.of(27, 9, 3), Rungs.of(27, 3, true, true).sizes());
        assertEquals(List.of(9, 3), Rungs.of(9, 3, true, true).sizes());
        assertEquals(List.of(10, 3), Rungs.of(10, 3, true, true).sizes());
        assertEquals(List.of(4, 3), Rungs.of(4, 3, true, true).sizes());
        assertEquals(List.of(2), Rungs.of(2, 3, true, true).sizes());
        assertEquals(1 / 9.0, Rungs.of(27, 3, true, true).fraction(0), 1e-12);
        assertEquals(1, Rungs.of(27, 3, true, true).fraction(2), 1e-12);
    }

    /** 9 trials for a third, 4 more up to the end, 4 on two other folds each, and 2 at the end. */
    @Test
    void countsAllJobs() {
        Rungs rungs = Rungs.of(9, 3, true, true);
        double training = 9 / 3.0 + 4 * (1 - 0.8 / 3) + 8 + 2;
        assertEquals(100 * training + 23 * 7, rungs.total(100, 7, 1), 1e-9);
        assertEquals(100, rungs.length(100 * training + 23 * 7, 7, 1), 1e-9);
        // With two processes: 5, 2, 4 and 1 rounds.
        double rounds = 5 / 3.0 + 2 * (1 - 0.8 / 3) + 4 + 1;
        assertEquals(100 * rounds + 12 * 7, rungs.total(100, 7, 2), 1e-9);
    }

    @ParameterizedTest
    @CsvSource({"1e9, 81", "1100, 27", "100, 9", "1, 9"})
    void runsMoreTrialsIfEachIsLongEnough(double budget, int trials) {
        Rungs rungs = Rungs.choose(budget, 50, 0, 1, 1, 3, true, true);
        assertEquals(trials, rungs.sizes().get(0));
    }

    /** 600 steps: 81 trials would train for one step at first, 27 for six, 9 for twelve. */
    @Test
    void firstRungsAreLongEnough() {
        assertEquals(81, Rungs.choose(600, 10, 0, 0, 1, 3, true, true).sizes().get(0));
        assertEquals(9, Rungs.choose(600, 10, 10, 0, 1, 3, true, true).sizes().get(0));
    }

    @Test
    void slowerTrialsGetFewerSteps() {
        Rungs rungs = Rungs.of(27, 3, true, true);
        List<Long> fast = rungs.steps(900, 0.5);
        List<Long> slow = rungs.steps(900, 2);
        assertEquals(List.of(200L, 600L, 1800L), fast);
        assertEquals(List.of(50L, 150L, 450L), slow);
        assertTrue(fast.get(2) * 0.5 <= 900 && slow.get(2) * 2 <= 900);
    }
}
