package dev.saccade.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

class PrintableTest {

    @ParameterizedTest
    @ValueSource(
            ints = {
                0x00, 0x07, 0x08, 0x0B, 0x1B, 0x7F, 0x85, 0x9B, 0xAD, 0x034F, 0x061C, 0x115F,
                0x180E, 0x200B, 0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202E, 0x2060,
                0x2064, 0x2066, 0x2069, 0x206F, 0x3164, 0xD800, 0xDFFF, 0xFE0F, 0xFEFF, 0xFFA0,
                0xFFF9, 0xFFFE, 0xFFFF
            })
    void escapesControlAndHiddenCharacters(int character) {
        String shown = Printable.line("a" + (char) character + "b");
        assertEquals(String.format(Locale.ROOT, "a\\u%04xb", character), shown);
        assertEquals(shown, Printable.line(shown), "again");
    }

    @Test
    void escapesSupplementaryCharactersLikeJson() {
        assertEquals("\\udb40\\udc41", Printable.line(Character.toString(0xE0041)));
        assertEquals("\\ud834\\udd73", Printable.line(Character.toString(0x1D173)));
    }

    @Test
    void keepsNamesInAllLanguages() {
        for (String name :
                List.of("Übung 5 %", "קטיפה", "صورة", "日本語", "หมา", "🦊", "a\\b", "'\"")) {
            assertEquals(name, Printable.line(name));
        }
    }

    @Test
    void namesHaveOneLineAndTextsKeepTheirs() {
        assertEquals("a\\nb\\r\\tc", Printable.line("a\nb\r\tc"));
        assertEquals("a\nb\\r\\t\\u2028c", Printable.lines("a\nb\r\t\u2028c"));
    }

    @Test
    void argumentsCannotAddLines() {
        Path file = Path.of("a\nsaccade: all is well");
        SaccadeException error = SaccadeException.user("%s: %d of %.1f is %s", file, 1, 2.5, true);
        assertEquals("a\\nsaccade: all is well: 1 of 2.5 is true", error.getMessage());
        assertEquals(
                "in b: " + error.getMessage(),
                SaccadeException.io(error, "in %s: %s", "b", error).getMessage());
    }

    @Test
    void problemsHaveOneLineEach() {
        Problems problems = new Problems();
        problems.add("class %s", "\u202e\nx");
        assertEquals("f\\r: class \\u202e\\nx", thrown(problems, "f\r"));
        problems.add("second");
        String line = System.lineSeparator() + "  - ";
        assertEquals(
                "f: 2 problems" + line + "class \\u202e\\nx" + line + "second",
                thrown(problems, "f"));
    }

    @Test
    void allErrorsEscapeArguments() {
        RuntimeException cause = new IllegalStateException();
        String name = "a\u001b[2J\nb";
        for (SaccadeException e :
                List.of(
                        SaccadeException.user("%s", name),
                        SaccadeException.user(cause, "%s", name),
                        SaccadeException.io(cause, "%s", name),
                        SaccadeException.internal(cause, "%s", name))) {
            assertEquals("a\\u001b[2J\\nb", e.getMessage(), e.kind().toString());
        }
    }

    @Test
    void limitsTheLengthOfMessages() {
        Problems problems = new Problems();
        for (int i = 0; i < 1_000; i++) {
            problems.add("unknown key %s", "k".repeat(60_000));
        }
        String message = thrown(problems, "f".repeat(60_000));
        assertTrue(message.length() < 52 * 10_100, message.length() + " characters");
        assertTrue(message.endsWith("  - and 950 more"), message.substring(message.length() - 50));
        assertTrue(message.startsWith("f".repeat(9_997) + "...: 1000 problems"), "shortened");
    }

    @Test
    void shellWordsAreNoOptions() {
        assertEquals("./-out", Printable.shellWord(Path.of("-out")));
        assertEquals("'./-my out'", Printable.shellWord(Path.of("-my out")));
        assertEquals("runs/-out", Printable.shellWord(Path.of("runs/-out")));
    }

    private static String thrown(Problems problems, String subject) {
        return assertThrows(SaccadeException.class, () -> problems.throwIfAny(subject))
                .getMessage();
    }
}
