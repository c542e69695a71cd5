package dev.saccade.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Range;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.components.Variant;

import org.junit.jupiter.api.Test;

import java.util.List;

/** Records with wrong annotations, or with constructors that throw. */
class AnnotationsTest {

    @Variant(name = "tiny", settings = "dept: 3")
    private record Misspelled(@Default("tiny") String variant, @Default("1") int depth) {}

    @Variant(name = "tiny")
    private record Elsewhere(@Default("huge") String variant) {}

    @Variant(name = "tiny")
    @Variant(name = "tiny")
    private record Twice(@Default("tiny") String variant) {}

    @Test
    void reportsWrongAnnotations() {
        assertRefused(Misspelled.class, "Misspelled: @Variant(tiny): unknown key [dept]");
        assertRefused(
                Elsewhere.class, "Elsewhere: @Default(huge): expected the name of a @Variant");
        assertRefused(Twice.class, "Twice: @Variant(tiny): duplicate name");
    }

    private record Inner(int first, @Default("2") int second) {}

    private record Whole(@Unwrapped Inner inside, @Default("1") int last) {}

    @Test
    void unwrappedSettingsMayBeRequired() {
        assertEquals(new Whole(new Inner(4, 2), 1), Configs.of(Whole.class, "first=4"));
        assertRefused(Whole.class, "first: missing");
    }

    private record Ranged(@Default("0.4") Range background) {}

    @Test
    void rangesAreNumbersOrPairs() {
        assertEquals(new Range(0, 0.4), Configs.of(Ranged.class).background());
        assertEquals(new Range(0, 0.3), Configs.of(Ranged.class, "background=0.3").background());
        Ranged pair = Configs.of(Ranged.class, "background=[0.1, 0.4]");
        assertEquals(new Range(0.1, 0.4), pair.background());
        assertEquals(
                "background: [0.1, 0.4]", ConfigWriter.yaml(Configs.unbindChanges(pair)).strip());
        assertEquals(
                "background: 0.4",
                ConfigWriter.yaml(Unbinding.all(Configs.of(Ranged.class))).strip());
        assertRefused(Ranged.class, "expected a number or [LOW, HIGH]", "background=[1]");
    }

    record Odd(@Default("1") int kind, @Default("[1]") List<Integer> items) {

        Odd {
            switch (kind) {
                case 2 -> throw new IllegalArgumentException();
                case 3 -> throw new IllegalArgumentException("items[7]: too many");
                case 4 -> throw SaccadeException.user("kind: got 4");
                case 5 -> throw new IllegalStateException("no");
                default -> {}
            }
        }
    }

    @Test
    void reportsAnyExceptionOfAConstructor() {
        assertRefused(Odd.class, "java.lang.IllegalArgumentException", "kind=2");
        assertRefused(Odd.class, "items[7]: too many", "kind=3", "items=[1, 2]");
        assertRefused(Odd.class, "kind: got 4", "kind=4");
        assertRefused(Odd.class, "Odd failed: java.lang.IllegalStateException: no", "kind=5");
    }

    private static void assertRefused(
            Class<? extends Record> type, String expected, String... settings) {
        String message =
                assertThrows(SaccadeException.class, () -> Configs.of(type, settings)).getMessage();
        assertTrue(message.contains(expected), message);
    }
}
