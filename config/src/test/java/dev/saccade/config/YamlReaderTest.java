package dev.saccade.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

import org.junit.jupiter.api.Test;

import java.util.List;

class YamlReaderTest {

    private static final Origin ORIGIN = new Origin("a.yaml", 1, 1);

    @Test
    void plainScalarsHaveTheTypesOfTheCoreSchema() {
        assertEquals(
                List.of(true, "yes", 12L, 255L, 1e-4, 1e3, 0.5, "1_000", "1e", "12:30", "0b1"),
                values("[True, yes, +12, 0xFF, 1e-4, 1E3, .5, 1_000, 1e, 12:30, 0b1]"));
        assertEquals(List.of("true", "1", "~"), values("[\"true\", '1', \"~\"]"));
        assertEquals(List.of("0x", "0o", 0L, 7L), values("[0x, 0o, 0, 07]"));
    }

    @Test
    void readsSurrogatePairsAnywhere() {
        for (int length = 1000; length < 1050; length++) {
            String text = "x".repeat(length) + "\ud83d\ude00";
            assertEquals(List.of(text), values("[" + text + "]"));
        }
    }

    @Property(tries = 2000)
    void readsOrRejectsAnyTextInOneLine(@ForAll("yaml") String text) {
        try {
            YamlReader.read(text, ORIGIN);
        } catch (SaccadeException e) {
            assertEquals(SaccadeException.Kind.USER, e.kind());
            assertEquals(1, e.getMessage().lines().count(), e.getMessage());
            assertTrue(e.getMessage().startsWith("a.yaml"), e.getMessage());
        }
    }

    @Provide
    Arbitrary<String> yaml() {
        return Arbitraries.of(
                        "a", "b", ":", ": ", "- ", "\n", " ", "  ", "[", "]", "{", "}", ",", "&a ",
                        "*a ", "!", "!!", "#", "'", "\"", "|", ">", "%", "@", "`", "?", "? ", "---",
                        "...", "\t", "\\", "\\x", "1", ".", "e", "-", "0x", "~", "<<", "\r", "\0",
                        "\u2028", "\ud800", "\ufeff")
                .list()
                .ofMaxSize(24)
                .map(parts -> String.join("", parts));
    }

    private static List<Object> values(String yaml) {
        ConfigNode.Sequence sequence = (ConfigNode.Sequence) YamlReader.read(yaml, ORIGIN);
        return sequence.items().stream().map(item -> ((ConfigNode.Scalar) item).value()).toList();
    }
}
