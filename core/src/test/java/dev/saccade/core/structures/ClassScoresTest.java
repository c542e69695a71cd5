package dev.saccade.core.structures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.common.primitives.ImmutableDoubleArray;

import org.junit.jupiter.api.Test;

import java.util.List;

class ClassScoresTest {

    private static ClassScores scores(double... values) {
        return new ClassScores(ImmutableDoubleArray.copyOf(values));
    }

    @Test
    void ordersClassesByScore() {
        ClassScores scores = scores(0.1, 0.6, 0.3);
        assertEquals(1, scores.best());
        assertEquals(0.6, scores.score(1));
        assertEquals(List.of(1, 2), scores.top(2));
        assertEquals(List.of(1, 2, 0), scores.top(9));
        assertEquals(List.of(), scores.top(0));
    }

    @Test
    void ordersTiesByIndex() {
        assertEquals(List.of(1, 3, 0, 2), scores(0.2, 0.3, 0.2, 0.3).top(4));
        assertEquals(0, scores(0.5, 0.5).best());
    }

    @Test
    void mixesTargets() {
        ClassTarget mixed = ClassTarget.of(3).mix(ClassTarget.of(5), 0.25);
        assertEquals(new ClassTarget(3, 5, 0.25), mixed);
        assertThrows(IllegalArgumentException.class, () -> new ClassTarget(1, 2, 1.5));
        assertThrows(IllegalArgumentException.class, () -> scores());
    }
}
