package dev.saccade.core;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

import java.util.Collections;
import java.util.List;
import java.util.Optional;

class ChecksTest {

    @Test
    void reportsAllProblemsByKey() {
        Checks checks =
                new Checks()
                        .inRange("stacked_convs", 2_000_000_000, 0, 100)
                        .inRange("num_outs", -1L, 1, 16)
                        .inRange("patience", Optional.of(0), 1, 1e6)
                        .inRange("ratio", Double.NaN, 0, 1)
                        .above("epsilon", 0.0, 0, 0.5)
                        .above("power", Double.POSITIVE_INFINITY, 0, 100)
                        .below("momentum", 1.0, 0, 1)
                        .below("beta", -0.5, 0, 1)
                        .each("depths", List.of(2, 0, 900), 1, 500)
                        .size("means", List.of(1.0), 4, 4)
                        .size("scales", List.of(), 1, 9)
                        .size("classes", Collections.nCopies(20, "a"), 1, 9)
                        .ascending("milestones", List.of(8, 8));
        Checks.InvalidSettings refusal =
                assertThrows(Checks.InvalidSettings.class, checks::throwIfAny);
        assertEquals(
                List.of(
                        "stacked_convs: got 2000000000, expected at most 100",
                        "num_outs: got -1, expected at least 1",
                        "patience: got 0, expected at least 1",
                        "ratio: got NaN, expected at most 1",
                        "epsilon: got 0.0, expected more than 0",
                        "power: got Infinity, expected at most 100",
                        "momentum: got 1.0, expected less than 1",
                        "beta: got -0.5, expected at least 0",
                        "depths[1]: got 0, expected at least 1",
                        "means: got [1.0], expected a list of length 4",
                        "scales: got [], expected a list of length at least 1",
                        "classes: got 20 values, expected a list of length at most 9",
                        "milestones: got [8, 8], expected ascending numbers"),
                refusal.getMessage().lines().toList());
        assertEquals("depths[1]", refusal.problems().get(8).key());
    }

    @Test
    void checksInclusiveAndExclusiveBounds() {
        Checks checks =
                new Checks()
                        .inRange("a", 0, 0, 100)
                        .inRange("b", 100, 0, 100)
                        .inRange("c", Optional.<Long>empty(), 1, 2)
                        .above("d", 100.0, 0, 100)
                        .below("e", 0.0, 0, 1)
                        .each("f", List.of(), 1, 2)
                        .ascending("g", List.of(3, 8));
        assertDoesNotThrow(checks::throwIfAny);
    }
}
