package dev.saccade.datasets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;

import java.util.List;

class ClassNameTest {

    @Test
    void rejectsClassesThatWouldLeaveTheFolder() {
        ClassName.requireFolderNames(List.of("cat", "red cell", "v1.0"), "test");
        for (String name : List.of("..", ".", "", "../x", "a/b", "a\\b", "C:", "a\nb", "\0")) {
            SaccadeException error =
                    assertThrows(
                            SaccadeException.class,
                            () -> ClassName.requireFolderNames(List.of("cat", name), "test"),
                            name);
            assertEquals(SaccadeException.Kind.USER, error.kind());
        }
    }
}
