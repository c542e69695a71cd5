package dev.saccade.tune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TuneBudgetTest {

    @ParameterizedTest
    @CsvSource({
        "2h, 7200, SECONDS",
        "1h30m, 5400, SECONDS",
        "1.5h, 5400, SECONDS",
        "90s, 90, SECONDS",
        "20000steps, 20000, STEPS",
        "300 steps, 300, STEPS"
    })
    void parses(String text, double amount, TuneBudget.Unit unit) {
        assertEquals(new TuneBudget(amount, unit), TuneBudget.parse(text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "2", "0h", "0steps", "1d", "h", "-1h", "two hours", "9999999999steps"})
    void rejects(String text) {
        SaccadeException error = assertThrows(SaccadeException.class, () -> TuneBudget.parse(text));
        assertTrue(error.getMessage().startsWith("budget: got "), error.getMessage());
        assertEquals(SaccadeException.Kind.USER, error.kind());
    }
}
