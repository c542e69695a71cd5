package dev.saccade.report.suggest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;

import java.util.List;

class SuggestionWriterTest {

    @Test
    void rejectsClassesThatWouldLeaveTheFolder() {
        SuggestionWriter.requireFolderNames(List.of("cat", "red cell", "v1.0"));
        for (String name : List.of("..", ".", "", "../x", "a/b", "a\\b", "C:", "a\nb", "\0")) {
            SaccadeException error =
                    assertThrows(
                            SaccadeException.class,
                            () -> SuggestionWriter.requireFolderNames(List.of("cat", name)),
                            name);
            assertEquals(SaccadeException.Kind.USER, error.kind());
        }
    }
}
